import { createRoute, z } from '@hono/zod-openapi'
import type { Append } from '../../../ledger/event.ts'
import type { WaitingTexts } from '../../sms/index.ts'
import type { SendAgain } from '../../sms/send-again.ts'
import { json, refusals } from '../contract/describe.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'

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

const read = createRoute({
  method: 'get',
  path: '/api/outbound',
  tags: ['Outbound'],
  summary: 'Check whether outbound work is held, as after an import or a restore',
  responses: { 200: json(outboundSchema, 'The hold, and the waiting texts') },
})

const release = createRoute({
  method: 'post',
  path: '/api/outbound/release',
  tags: ['Outbound'],
  summary: 'Release outbound work that is held after an import, a restore or a loss',
  responses: { 200: json(outboundSchema, 'Outbound work is no longer held'), ...refusals(409) },
})

const sendAgain = createRoute({
  method: 'post',
  path: '/api/outbound/texts/{id}/retry',
  tags: ['Outbound'],
  summary: 'Resend a text message that failed or may not have been sent',
  request: { params: z.object({ id: z.string().describe('The `deliveryId` of its `sms.failed` event') }) },
  responses: { 200: json(outboundSchema, 'The text is being resent'), ...refusals(404, 409) },
})

const NOT_SENT_AGAIN = {
  unknown_text: new Refusal(404, 'unknown_text', 'There is no such text message.'),
  not_failed: new Refusal(409, 'not_failed', 'This text message did not fail, or was already resent.'),
  erased: new Refusal(409, 'erased', 'The words of this text message were erased.'),
}

/** The hold on texts, calls and tasks after an import, a restore or a loss, and the resending of texts. */
export function outboundRoutes(deps: {
  readonly append: Append
  /** The last import or loss that was not released. */
  readonly held: () => { readonly heldSeq: number; readonly heldAt: string } | undefined
  readonly waitingTexts: () => WaitingTexts | null
  readonly sendAgain: SendAgain
}): RouteModule {
  const routes = createRoutes()
  const present = () => ({ heldSince: deps.held()?.heldAt ?? null, waitingTexts: deps.waitingTexts() })
  routes.openapi(read, (c) => c.json(present(), 200))
  routes.openapi(sendAgain, async (c) => {
    const outcome = await deps.sendAgain(c.req.valid('param').id)
    if (outcome !== 'requested') throw NOT_SENT_AGAIN[outcome]
    return c.json(present(), 200)
  })
  routes.openapi(release, async (c) => {
    const hold = deps.held()
    if (!hold) throw new Refusal(409, 'not_held', 'Outbound work is not held.')
    await deps.append([
      {
        type: 'outbound.released',
        actor: 'owner',
        channel: 'system',
        causedBy: hold.heldSeq,
        // Makes a repeated request idempotent.
        key: `outbound.released:${hold.heldSeq}`,
        facts: {},
      },
    ])
    return c.json({ ...present(), heldSince: null }, 200)
  })
  return { routes }
}
