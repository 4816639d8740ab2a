import type { CompactionOutcome } from '../../agent/context/compaction.ts'
import { compact, context, type SessionContext, type TurnReport, turn } from '../contract/session.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'

export type SessionRouteDeps = {
  readonly sessionContext: () => SessionContext
  readonly turnReport: (turnId: string) => TurnReport | undefined
  /** Null when a turn or a compaction is running. */
  readonly compact: (conversationId: string) => Promise<CompactionOutcome> | null
  readonly isTurnRunning: () => boolean
  /** Records an attempt that failed because a turn was running. */
  readonly refuseBusy: (conversationId: string) => Promise<void>
  readonly openConversationId: () => string | undefined
}

export function sessionRoutes(deps: SessionRouteDeps): RouteModule {
  const routes = createRoutes()
  routes.openapi(context, (c) => c.json(deps.sessionContext(), 200))

  routes.openapi(compact, async (c) => {
    const conversationId = deps.openConversationId()
    // Checked first, because even a conversation's very first turn blocks compaction.
    if (conversationId !== undefined && deps.isTurnRunning()) {
      await deps.refuseBusy(conversationId)
      throw cannotCompact('A turn is running.')
    }
    const before = deps.sessionContext()
    if (conversationId === undefined || !before.active)
      throw cannotCompact('There is no conversation to compact.')
    if (before.compactionInFlight) throw cannotCompact('A compaction is running.')
    if (!before.canCompact && before.usageRecordedAt === null)
      throw cannotCompact('No turn has been completed yet.')
    const running = before.canCompact ? deps.compact(conversationId) : null
    if (!running) throw cannotCompact('The delegate is busy. Try again shortly.')
    const outcome = await running
    if (outcome.status === 'failed') {
      throw new Refusal(502, 'compaction_failed', 'The context could not be compacted. It is unchanged.', {
        extra: { kind: outcome.kind },
      })
    }
    return c.json(deps.sessionContext(), 200)
  })

  routes.openapi(turn, (c) => {
    const found = deps.turnReport(c.req.valid('param').id)
    if (!found) throw new Refusal(404, 'unknown_turn', 'There is no such turn.')
    return c.json(found, 200)
  })
  return { routes }
}

function cannotCompact(detail: string): Refusal {
  return new Refusal(409, 'cannot_compact', detail)
}
