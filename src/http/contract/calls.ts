import { z } from '@hono/zod-openapi'
import { answer, tagged } from './describe.ts'

const { get, post } = tagged('Telephony')

export const hangUp = post('/api/calls/current/hangup', {
  summary: 'Hang up the current call',
  responses: answer(z.object({ hungUp: z.literal(true) }), 'The call is being hung up', 409),
})

const nullableTime = z.string().nullable()

export const liveCallSchema = z
  .object({
    callSid: z.string(),
    party: z.enum(['owner', 'guest']),
    from: z.string(),
    inBrowser: z.boolean().describe('A talk in the browser, not a phone call'),
    conversationId: z.string().nullable(),
    spanId: z.string(),
    offeredAt: z.string(),
    connectedAt: nullableTime.describe('Null until the media stream connects'),
    speaking: z.enum(['caller', 'delegate']).nullable(),
    lines: z
      .array(
        z.object({
          itemId: z.string(),
          by: z.enum(['caller', 'delegate']),
          text: z.string().nullable().describe('Null until it is transcribed'),
        }),
      )
      .readonly()
      .describe('Speech that is not recorded yet'),
  })
  .openapi('LiveCall')

export type LiveCall = z.output<typeof liveCallSchema>
/** A line of a call that is not recorded as an event yet. */
export type TalkLine = LiveCall['lines'][number]

export const current = get('/api/calls/current', {
  summary: 'Get the current call',
  description: 'The chat socket sends each change as `call.live`.',
  responses: answer(z.object({ call: liveCallSchema.nullable() }), 'The call, or null'),
})
