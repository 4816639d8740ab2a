import { z } from '@hono/zod-openapi'
import { newPasswordSchema } from '../../settings/new-password.ts'
import { body, created, tagged } from './describe.ts'

const { post } = tagged('Sign-in')

const optional = z.string().optional()

export const installRoute = post('/api/install', {
  summary: 'Set up the service. Works once; of concurrent requests, exactly one succeeds',
  security: [],
  request: {
    body: body(
      z.object({
        password: newPasswordSchema,
        timezone: optional,
        publicUrl: optional,
        ownerPhoneNumber: optional,
        openaiApiKey: optional,
        openaiBaseUrl: optional,
        setupCode: z
          .string()
          .max(100)
          .optional()
          .describe('The one-time code that the service prints when it starts; 403 without it'),
      }),
    ),
  },
  responses: created(
    z.object({ configured: z.literal(true), authenticated: z.literal(true) }),
    'Set up and signed in',
    400,
    403,
    409,
    429,
  ),
})
