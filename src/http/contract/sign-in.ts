import { z } from '@hono/zod-openapi'
import { english } from '../../language/message.ts'
import { MAX_PASSWORD_CHARS, newPasswordSchema } from '../../settings/new-password.ts'
import { answer, body, done, tagged } from './describe.ts'
import { passkeyResponseSchema } from './passkeys.ts'

const { del, get, post } = tagged('Sign-in')

/** An existing password. Its length was checked when it was chosen. */
export const knownPasswordSchema = z
  .string()
  .min(1, english`must not be empty`)
  .max(4 * MAX_PASSWORD_CHARS)

export const codeSchema = z
  .string()
  .min(1, english`must not be empty`)
  .max(100)
  .describe('A code of the authenticator app, or a recovery code. Each counts once')

export const statusRoute = get('/auth/status', {
  summary: 'Check whether the service is set up and this browser is signed in',
  security: [],
  responses: answer(z.object({ configured: z.boolean(), authenticated: z.boolean() }), 'The state'),
})

export const signInRoute = post('/login', {
  summary:
    'Sign in; after 10 failures a client must wait. With an authenticator app, a password without a code gets 401 `second_factor_required`',
  security: [],
  request: { body: body(z.object({ password: knownPasswordSchema, code: codeSchema.optional() })) },
  responses: answer(
    z.object({ authenticated: z.literal(true) }),
    'Signed in, with a session cookie',
    400,
    401,
    403,
    429,
  ),
})

export const signOutRoute = post('/logout', {
  summary: 'Sign out and end the session on the server',
  responses: answer(z.object({ authenticated: z.literal(false) }), 'Signed out', 401, 403),
})

export const changePasswordRoute = post('/api/auth/password', {
  summary: 'Change the password and end every other session',
  request: { body: body(z.object({ currentPassword: knownPasswordSchema, newPassword: newPasswordSchema })) },
  responses: answer(z.object({ changed: z.literal(true) }), 'Changed', 400, 401, 403, 429),
})

export const stepUpRoute = post('/api/auth/step-up', {
  summary:
    'Prove that it is you. For five minutes, the session may do what is refused with `step_up_required`',
  request: {
    body: body(
      z.union([
        z.object({ password: knownPasswordSchema }),
        z.object({ code: codeSchema }),
        z.object({ passkey: passkeyResponseSchema }),
      ]),
    ),
  },
  responses: answer(z.object({ proven: z.literal(true) }), 'Proven', 400, 401, 403, 409, 429),
})

export const listSessionsRoute = get('/api/sessions', {
  summary: 'List sessions, last seen first',
  responses: answer(
    z.object({
      sessions: z.array(
        z.object({
          id: z.string(),
          current: z.boolean(),
          createdAt: z.iso.datetime(),
          lastSeenAt: z.iso.datetime(),
          userAgent: z.string(),
        }),
      ),
    }),
    'The sessions',
  ),
})

export const revokeOtherSessionsRoute = del('/api/sessions', {
  summary:
    'End every session but this one and close their sockets. Needs a recent proof (`step_up_required`)',
  responses: done('Ended', 403),
})

export const revokeSessionRoute = del('/api/sessions/{id}', {
  summary: 'End a session and close its sockets. Needs a recent proof (`step_up_required`)',
  request: { params: z.object({ id: z.string() }) },
  responses: done('Ended', 403, 404),
})
