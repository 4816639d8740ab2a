import { msg } from '../../language/msg.ts'
import { compact, context, turn } from '../contract/session.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, known, Refusal } from '../server/problem.ts'

export function sessionRoutes(routes: Routes, deps: RouteDeps): void {
  const { sessionContext, turnReport, isTurnRunning, compactor, attention } = deps.agent
  routes.openapi(context, (c) => c.json(sessionContext(), 200))

  routes.openapi(compact, async (c) => {
    const conversationId = deps.openConversationId()
    // Checked first, because even a conversation's very first turn blocks compaction.
    if (conversationId !== undefined && isTurnRunning()) {
      await compactor.refuseBusy(conversationId)
      throw cannotCompact(msg`A turn is running.`)
    }
    const before = sessionContext()
    if (conversationId === undefined || !before.active)
      throw cannotCompact(msg`There is no conversation to compact.`)
    if (before.compactionInFlight) throw cannotCompact(msg`A compaction is running.`)
    if (!before.canCompact && before.usageRecordedAt === null)
      throw cannotCompact(msg`No turn has been completed yet.`)
    const running = before.canCompact
      ? attention.exclusively((signal) => compactor.compact(conversationId, 'manual', signal))
      : null
    if (!running) throw cannotCompact(msg`The delegate is busy. Try again shortly.`)
    const outcome = await running
    if (outcome.status === 'failed') {
      throw new Refusal(502, 'compaction_failed', msg`The context could not be compacted. It is unchanged.`, {
        extra: { kind: outcome.kind },
      })
    }
    return c.json(sessionContext(), 200)
  })

  routes.openapi(turn, (c) => c.json(known(turnReport(c.req.valid('param').id), 'turn'), 200))
}

function cannotCompact(detail: string): Refusal {
  return conflict('cannot_compact', detail)
}
