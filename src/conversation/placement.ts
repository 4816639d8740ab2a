import type { Database } from 'better-sqlite3'
import type { Append, Appended, Channel, NewEvent } from '../../ledger/event.ts'
import { createOpenSpanQueries } from '../../projections/open-spans.ts'

/** Where the next fact belongs. */
export type Place = { readonly conversationId: string; readonly spanId: string }

export type Placement = {
  /**
   * Appends what `compose` makes for the open conversation and its running interaction, and first, in the same
   * batch, the facts that open either where it is not. One at a time, so that two messages never open two.
   */
  appendToInteraction(channel: Channel, compose: (place: Place) => readonly NewEvent[]): Promise<Appended>
  /** Appends what `compose` makes for the open conversation, and begins one first where there is none. */
  appendToConversation(
    channel: Channel,
    compose: (conversationId: string) => readonly NewEvent[],
  ): Promise<Appended>
  /**
   * Appends what `compose` makes in a span of its own, as one batch with what opens it: in the open conversation,
   * which is begun where there is none, or in no conversation at all.
   */
  appendToNewSpan(
    span: {
      readonly kind: 'interaction' | 'call' | 'delivery'
      readonly channel: Channel
      readonly inConversation: boolean
    },
    compose: () => readonly NewEvent[],
  ): Promise<Appended>
  /** The open conversation; undefined before the first message and after one has ended. */
  openConversationId(): string | undefined
}

/** An interaction that goes on and on is cut after this many turns: a span is short, pages take it whole. */
const TURNS_AN_INTERACTION = 40

/** Decides which conversation and span a fact belongs to, on whatever channel it comes. */
export function createPlacement(options: {
  readonly append: Append
  readonly views: Database
  readonly newId: () => string
}): Placement {
  const { append, views, newId } = options
  const spans = createOpenSpanQueries(views)
  const openConversation = views.prepare<[], { id: string }>(
    'SELECT id FROM conversations WHERE endedAt IS NULL ORDER BY startSeq DESC LIMIT 1',
  )
  const openConversationId = () => openConversation.get()?.id
  let last: Promise<unknown> = Promise.resolve()

  /** The open conversation, and the fact that begins it where there is none. */
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

  function inTurn(append: () => Promise<Appended>): Promise<Appended> {
    const result = last.then(append)
    last = result.catch(() => undefined)
    return result
  }

  return {
    openConversationId,
    appendToConversation: (channel, compose) =>
      inTurn(async () => {
        const { conversationId, opening } = conversation(channel)
        return append([...opening, ...compose(conversationId)])
      }),
    appendToInteraction: (channel, compose) => inTurn(() => appendInPlace(channel, compose)),
    appendToNewSpan({ kind, channel, inConversation }, compose) {
      return inTurn(async () => {
        const place = inConversation ? conversation(channel) : { conversationId: null, opening: [] }
        const { conversationId, opening } = place
        const spanId = newId()
        return append([
          ...opening,
          { type: 'span.opened', actor: 'service', channel, conversationId, spanId, facts: { kind } },
          ...compose().map((event) => ({ ...event, conversationId, spanId })),
        ])
      })
    },
  }
}
