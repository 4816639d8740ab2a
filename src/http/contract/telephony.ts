import { z } from '@hono/zod-openapi'
import { answer, tagged } from './describe.ts'

const { get, post } = tagged('Telephony')

const pointingSchema = z
  .object({
    number: z.string(),
    publicUrl: z.string(),
    changes: z
      .array(
        z.object({
          name: z.enum(['voice', 'SMS', 'call status', 'message status']),
          from: z.string().nullable().describe('Where it points now; null if nowhere'),
          to: z.string(),
        }),
      )
      .readonly(),
  })
  .openapi('NumberPointing')

export type Pointing = z.output<typeof pointingSchema>

export const plan = get('/api/telephony/number', {
  summary: 'Preview what would change if the number pointed here',
  responses: answer(pointingSchema, 'The changes; empty if the number already points here', 409, 502),
})

export const point = post('/api/telephony/number/point', {
  summary: 'Point the voice, SMS and status addresses of the number at the Public URL',
  responses: answer(pointingSchema, 'The changes made', 409, 502),
})
