import { z } from '@hono/zod-openapi'
import { answer, body, done, tagged } from './describe.ts'
import { codeSchema } from './sign-in.ts'

const { del, get, post } = tagged('Sign-in')

const factorsSchema = z
  .object({
    totp: z.object({ addedAt: z.iso.datetime() }).nullable().describe('The authenticator app'),
    recoveryCodesLeft: z.int(),
    passkeys: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        domain: z.string().describe('Where it signs in'),
        addedAt: z.iso.datetime(),
        lastUsedAt: z.iso.datetime().nullable(),
      }),
    ),
    passkeyDomain: z
      .string()
      .nullable()
      .describe('The domain of this page, for passkeys. Null where browsers offer none'),
  })
  .openapi('Factors')

const recoveryCodesSchema = z.object({
  recoveryCodes: z.array(z.string()).readonly().describe('Shown only now; each counts once'),
})

export const factorsRoute = get('/api/auth/factors', {
  summary: 'List what the owner can sign in with besides the password',
  responses: answer(factorsSchema, 'The factors'),
})

export const beginTotpRoute = post('/api/auth/totp', {
  summary: 'Make a secret for an authenticator app. It counts once a code of it is confirmed',
  responses: answer(
    z.object({ secret: z.string().describe('In base 32'), uri: z.string().describe('For a QR code') }),
    'The secret',
    403,
    409,
  ),
})

export const confirmTotpRoute = post('/api/auth/totp/confirm', {
  summary: 'Add the authenticator app that the session has begun with',
  request: { body: body(z.object({ code: codeSchema })) },
  responses: answer(recoveryCodesSchema, 'Added, with recovery codes', 400, 403, 409),
})

export const removeTotpRoute = del('/api/auth/totp', {
  summary: 'Remove the authenticator app and its recovery codes',
  responses: done('Removed', 403, 404),
})

export const renewRecoveryCodesRoute = post('/api/auth/recovery-codes', {
  summary: 'Replace all recovery codes',
  responses: answer(recoveryCodesSchema, 'The new recovery codes', 403, 409),
})
