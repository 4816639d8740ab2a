import { createRoute, z } from '@hono/zod-openapi'
import type { CompactionOutcome } from '../../agent/context/compaction.ts'
import type { SessionContext } from '../../agent/context/session-context.ts'
import type { TurnReport } from '../../agent/turn/turn-report.ts'
import { json, refusals } from '../contract/describe.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'

const contextSchema = z
  .object({
    active: z.boolean(),
    canCompact: z.boolean(),
    channel: z.string().nullable(),
    inputTokens: z.int(),
    outputTokens: z.int(),
    cachedTokens: z.int(),
    compactThresholdTokens: z.int(),
    thresholdUtilization: z.number(),
    usageRecordedAt: z.string().nullable(),
    compactionInFlight: z.boolean(),
    replacementRetained: z.boolean(),
    latestCompaction: z
      .object({
        at: z.string(),
        source: z.enum(['manual', 'automatic']),
        channel: z.string().nullable(),
        inputTokensBefore: z.int(),
        inputTokensAfter: z.int(),
      })
      .nullable(),
    capsule: z.object({
      active: z.boolean(),
      source: z.string().nullable(),
      updatedAt: z.string().nullable(),
      throughSeq: z.int().nullable(),
    }),
  })
  .openapi('SessionContext')

const context = createRoute({
  method: 'get',
  path: '/api/session/context',
  tags: ['Session'],
  summary: 'Get the state of the context that the next turn continues from',
  responses: { 200: json(contextSchema, 'The context') },
})

const compact = createRoute({
  method: 'post',
  path: '/api/session/context/compact',
  tags: ['Session'],
  summary: 'Compact the context now',
  responses: { 200: json(contextSchema, 'The compacted context'), ...refusals(409, 502) },
})

const turnSchema = z
  .object({
    turnId: z.string(),
    channel: z.string().nullable(),
    status: z.enum(['waiting', 'running', 'completed', 'failed', 'stopped']),
    startedAt: z.string().nullable(),
    completedAt: z.string().nullable(),
    model: z.object({ provider: z.string(), model: z.string() }).nullable(),
    memories: z
      .array(z.object({ id: z.string(), text: z.string().nullable(), late: z.boolean() }))
      .readonly(),
    suppressed: z.array(z.object({ id: z.string(), reason: z.string() })).readonly(),
    signals: z.array(z.object({ id: z.string(), kind: z.string(), text: z.string().nullable() })).readonly(),
    adaptations: z.array(z.string()).readonly(),
    tools: z
      .array(
        z.object({
          callId: z.string(),
          tool: z.string(),
          arguments: z.string().nullable(),
          outcome: z.string().nullable(),
          result: z.string().nullable(),
          durationMs: z.number().nullable(),
        }),
      )
      .readonly(),
    usage: z.object({ inputTokens: z.int(), outputTokens: z.int(), cachedTokens: z.int() }),
  })
  .openapi('TurnReport')

const turn = createRoute({
  method: 'get',
  path: '/api/turns/{id}',
  tags: ['Session'],
  summary: 'Explain a reply: what the turn was given and what it did',
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(turnSchema, 'The turn'), ...refusals(404) },
})

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
