import { createOwnerQueries } from '../../../projections/owner.ts'
import { english } from '../../language/message.ts'
import { msg } from '../../language/msg.ts'
import { read, release, sendAgain } from '../contract/outbound.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, Refusal } from '../server/problem.ts'

const NOT_SENT_AGAIN = {
  unknown_text: new Refusal(404, 'unknown_text', english`There is no such text message.`),
  not_failed: conflict('not_failed', english`This text message did not fail, or was already resent.`),
  erased: conflict('erased', english`The words of this text message were erased.`),
}

/** The hold on texts, calls and tasks after an import, a restore or a loss, and the resending of texts. */
export function outboundRoutes(routes: Routes, { storage, outbound }: RouteDeps): void {
  /** The last import or loss that was not released. */
  const held = createOwnerQueries(storage.views).outboundHeld
  const present = () => ({ heldSince: held()?.heldAt ?? null, waitingTexts: outbound.waitingTexts() })
  routes.openapi(read, (c) => c.json(present(), 200))
  routes.openapi(sendAgain, async (c) => {
    const outcome = await outbound.sendAgain(c.req.valid('param').id)
    if (outcome !== 'requested') throw NOT_SENT_AGAIN[outcome]
    return c.json(present(), 200)
  })
  routes.openapi(release, async (c) => {
    const hold = held()
    if (!hold) throw conflict('not_held', msg`Outbound work is not held.`)
    await storage.append([
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
}
