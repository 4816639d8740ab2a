import { z } from '@hono/zod-openapi'
import { answer, tagged } from './describe.ts'

const { get, post } = tagged('Outbound')

const outboundSchema = z
  .object({
    heldSince: z
      .string()
      .nullable()
      .describe('When the ledger was imported or restored, or a loss was accepted; null if not held'),
    waitingTexts: z
      .object({
        count: z.int(),
        since: z.string().describe('When the oldest of them was requested'),
        until: z.string().describe('When the first of them is given up'),
        kind: z.string().nullable().describe('Why: `unavailable`, `rate_limited`, `credentials` or `budget`'),
      })
      .nullable()
      .describe('Text messages that cannot be sent at the moment and are retried; null if there are none'),
  })
  .openapi('Outbound')

export type Outbound = z.output<typeof outboundSchema>
export type WaitingTexts = NonNullable<Outbound['waitingTexts']>

export const read = get('/api/outbound', {
  summary: 'Check whether outbound work is held, as after an import or a restore',
  responses: answer(outboundSchema, 'The hold, and the waiting texts'),
})

export const release = post('/api/outbound/release', {
  summary: 'Release outbound work that is held after an import, a restore or a loss',
  responses: answer(outboundSchema, 'Outbound work is no longer held', 409),
})

export const sendAgain = post('/api/outbound/texts/{id}/retry', {
  summary: 'Resend a text message that failed or may not have been sent',
  request: { params: z.object({ id: z.string().describe('The `deliveryId` of its `sms.failed` event') }) },
  responses: answer(outboundSchema, 'The text is being resent', 404, 409),
})
