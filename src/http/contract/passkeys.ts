import { z } from '@hono/zod-openapi'
import { english } from '../../language/message.ts'
import { answer, body, created, done, tagged } from './describe.ts'

const { del, post } = tagged('Sign-in')

/** Bounds what a stranger can make the service decode. */
const base64url = z.string().max(20_000)

const typeSchema = z.literal('public-key')
const needSchema = z.literal('required')

const responseOf = <S extends z.ZodRawShape>(shape: S) =>
  z.object({
    id: base64url,
    rawId: base64url,
    type: typeSchema,
    response: z.object({ clientDataJSON: base64url, ...shape }),
  })

const registrationSchema = responseOf({ attestationObject: base64url })

export const passkeyResponseSchema = responseOf({
  authenticatorData: base64url,
  signature: base64url,
}).describe('What the browser returns for the options (WebAuthn: AuthenticationResponseJSON)')

const optionsSchema = z
  .object({
    challenge: z.string(),
    rpId: z.string(),
    timeout: z.int(),
    userVerification: needSchema,
  })
  .describe('For the browser (WebAuthn: PublicKeyCredentialRequestOptionsJSON)')

const creationOptionsSchema = z
  .object({
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    challenge: z.string(),
    pubKeyCredParams: z.array(z.object({ alg: z.int(), type: typeSchema })),
    timeout: z.int(),
    excludeCredentials: z.array(z.object({ id: z.string(), type: z.string() })),
    authenticatorSelection: z.object({ residentKey: needSchema, userVerification: needSchema }),
    attestation: z.literal('none'),
  })
  .describe('For the browser (WebAuthn: PublicKeyCredentialCreationOptionsJSON)')

export const passkeyOptionsRoute = post('/login/passkey/options', {
  summary: 'Begin to sign in, or to prove that it is you, with a passkey',
  security: [],
  responses: answer(
    z.object({ options: optionsSchema.nullable().describe('Null where no passkey can be used') }),
    'The options',
    403,
  ),
})

export const passkeySignInRoute = post('/login/passkey', {
  summary: 'Sign in with a passkey',
  security: [],
  request: { body: body(z.object({ response: passkeyResponseSchema })) },
  responses: answer(
    z.object({ authenticated: z.literal(true) }),
    'Signed in, with a session cookie',
    400,
    401,
    403,
    409,
    429,
  ),
})

export const registrationOptionsRoute = post('/api/auth/passkeys/options', {
  summary: 'Begin to add a passkey',
  responses: answer(
    z.object({
      options: creationOptionsSchema,
    }),
    'The options',
    403,
    409,
  ),
})

export const addPasskeyRoute = post('/api/auth/passkeys', {
  summary: 'Add a passkey',
  request: {
    body: body(
      z.object({
        name: z.string().trim().min(1, english`must not be empty`).max(60),
        response: registrationSchema.describe(
          'What the browser returns for the options (WebAuthn: RegistrationResponseJSON)',
        ),
      }),
    ),
  },
  responses: created(z.object({ added: z.literal(true) }), 'Added', 400, 403, 409),
})

export const removePasskeyRoute = del('/api/auth/passkeys/{id}', {
  summary: 'Remove a passkey',
  request: { params: z.object({ id: z.string() }) },
  responses: done('Removed', 403, 404),
})
