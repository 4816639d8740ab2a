import {
  conversationById,
  listConversations,
  spansOfConversation,
} from '../../../projections/conversation-queries.ts'
import type { ConversationRow } from '../../../projections/conversations.ts'
import type { EndOutcome } from '../../agent/conversation/ending.ts'
import { msg } from '../../language/msg.ts'
import { end, events, list, one } from '../contract/conversations.ts'
import { seqOf } from '../contract/list-query.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, known, unknown } from '../server/problem.ts'
import { pageOf } from './timeline.ts'

export function conversationRoutes(routes: Routes, deps: RouteDeps): void {
  const { kysely: views, agent } = deps
  const find = async (id: string) => known(await conversationById(views, id), 'conversation')

  routes.openapi(list, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const rows = await listConversations(views, { limit: limit + 1, beforeSeq: seqOf(cursor) })
    const shown = rows.slice(0, limit)
    const nextCursor = rows.length > limit ? String(shown.at(-1)?.startSeq) : null
    return c.json({ conversations: shown.map(present), nextCursor }, 200)
  })

  routes.openapi(one, async (c) => {
    const row = await find(c.req.valid('param').id)
    const spans = await spansOfConversation(views, row.id)
    const shown = spans.map(({ spanId, eventCount, ...span }) => ({
      id: spanId,
      ...span,
      eventCount: Number(eventCount),
    }))
    return c.json({ ...present(row), spans: shown }, 200)
  })

  routes.openapi(end, async (c) => {
    const { id } = c.req.valid('param')
    requireEnded(await agent.endConversation(id))
    return c.json(present(await find(id)), 200)
  })

  routes.openapi(events, async (c) => {
    const { id } = c.req.valid('param')
    await find(id)
    return c.json(pageOf(deps, c.req.valid('query'), id), 200)
  })
}

/** Throws the refusal for a conversation that could not be ended. */
export function requireEnded(outcome: EndOutcome): void {
  if (outcome === 'not_found') throw unknown('conversation')
  if (outcome === 'already_ended')
    throw conflict('conversation_ended', msg`The conversation has already ended.`)
}

function present(row: ConversationRow) {
  const { id, startedAt, endedAt, lastEventAt, eventCount, turnCount } = row
  const channels = (['chat', 'voice', 'sms'] as const).filter((channel) => row[channel] === 1)
  const status: 'open' | 'ended' = endedAt === null ? 'open' : 'ended'
  return { id, status, channels, startedAt, endedAt, lastEventAt, eventCount, turnCount }
}
