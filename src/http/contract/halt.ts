import { z } from '@hono/zod-openapi'
import { answer, body, tagged } from './describe.ts'
import { knownPasswordSchema } from './sign-in.ts'

const { get, post } = tagged('Halt')

export const haltSchema = z
  .object({
    halted: z.boolean(),
    since: z.string().nullable().describe('When it was halted; null if it is not, or not recorded yet'),
    by: z.enum(['browser', 'sms', 'voice', 'shell']).nullable(),
  })
  .openapi('Halt', { description: 'In `/ready` and the health report only while halted, and with a session' })

export type HaltState = z.output<typeof haltSchema>

export const read = get('/api/halt', {
  summary: 'Check whether the delegate is halted',
  responses: answer(haltSchema, 'The state'),
})

export const halt = post('/api/halt', {
  summary: 'Halt the delegate: it answers in chat and does nothing else; halting again changes nothing',
  responses: answer(haltSchema, 'The delegate is halted'),
})

export const release = post('/api/halt/release', {
  summary: 'Release the delegate; what was waiting goes on',
  request: { body: body(z.object({ password: knownPasswordSchema })) },
  responses: answer(haltSchema, 'The delegate is not halted', 400, 401, 403, 429),
})
