import type { Database } from 'better-sqlite3'
import pLimit from 'p-limit'
import type { Append, Appended, Channel, NewEvent } from '../../ledger/event.ts'
import { createOpenSpanQueries } from '../../projections/open-spans.ts'

export type Place = { readonly conversationId: string; readonly spanId: string }

type NewSpan = {
  readonly kind: 'interaction' | 'call' | 'delivery'
  readonly channel: Channel
  readonly inConversation: boolean
}

export type Placement = ReturnType<typeof createPlacement>

/** Longest interaction in turns. Spans stay short because pages never split one. */
const TURNS_AN_INTERACTION = 40

/** Decides which conversation and span a fact belongs to, for every channel. */
export function createPlacement(options: {
  readonly append: Append
  readonly views: Database
  readonly newId: () => string
}) {
  const { append, views, newId } = options
  const spans = createOpenSpanQueries(views)
  const openConversation = views.prepare<[], { id: string }>(
    'SELECT id FROM conversations WHERE endedAt IS NULL ORDER BY startSeq DESC LIMIT 1',
  )
  const openConversationId = () => openConversation.get()?.id
  const serially = pLimit(1)

  /** The open conversation, or a new one with the fact that starts it. */
  function conversation(channel: Channel): { conversationId: string; opening: NewEvent[] } {
    const open = openConversationId()
    if (open !== undefined) return { conversationId: open, opening: [] }
    const conversationId = newId()
    return {
      conversationId,
      opening: [{ type: 'conversation.started', actor: 'service', channel, conversationId, facts: {} }],
    }
  }

  async function appendInPlace(
    channel: Channel,
    compose: (place: Place) => readonly NewEvent[],
  ): Promise<Appended> {
    const { conversationId, opening } = conversation(channel)
    let span = spans.interaction(conversationId)
    if (span && span.turns >= TURNS_AN_INTERACTION) {
      opening.push({
        type: 'span.closed',
        actor: 'service',
        conversationId,
        spanId: span.spanId,
        facts: { reason: 'length' },
      })
      span = undefined
    }
    const spanId = span?.spanId ?? newId()
    if (!span) {
      opening.push({
        type: 'span.opened',
        actor: 'service',
        channel,
        conversationId,
        spanId,
        facts: { kind: 'interaction' },
      })
    }
    return append([...opening, ...compose({ conversationId, spanId })])
  }

  return {
    /** Undefined before the first message and after a conversation has ended. */
    openConversationId,
    /**
     * Appends events to the open interaction, and in the same batch the facts that open the conversation or
     * the interaction if needed. Calls are serialised, so two messages never open two.
     */
    appendToInteraction: (channel: Channel, compose: (place: Place) => readonly NewEvent[]) =>
      serially(() => appendInPlace(channel, compose)),
    /** Appends events to the open conversation; starts one if none is open. */
    appendToConversation: (channel: Channel, compose: (conversationId: string) => readonly NewEvent[]) =>
      serially(() => {
        const { conversationId, opening } = conversation(channel)
        return append([...opening, ...compose(conversationId)])
      }),
    /** Appends events in a new span, in one batch with the fact that opens it. */
    appendToNewSpan: ({ kind, channel, inConversation }: NewSpan, events: readonly NewEvent[]) =>
      serially(() => {
        const place = inConversation ? conversation(channel) : { conversationId: null, opening: [] }
        const { conversationId, opening } = place
        const spanId = newId()
        return append([
          ...opening,
          { type: 'span.opened', actor: 'service', channel, conversationId, spanId, facts: { kind } },
          ...events.map((event) => ({ ...event, conversationId, spanId })),
        ])
      }),
  }
}
