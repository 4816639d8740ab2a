import type { Database } from 'better-sqlite3'
import type { Append, NewEvent } from '../../ledger/event.ts'
import { createOpenSpanQueries, type OpenSpanRow } from '../../projections/open-spans.ts'

export type EndOutcome = 'ended' | 'not_found' | 'already_ended'

/** Ends conversations for good, and spans that have gone idle. */
export type Ending = {
  /** Without an id, the open conversation. */
  endConversation(conversationId: string | undefined): Promise<EndOutcome>
  /** Closes the interactions in which nothing has happened for `idleMs`, and tells of each. */
  closeIdleSpans(idleMs: number): Promise<readonly OpenSpanRow[]>
}

export function createEnding(options: {
  readonly append: Append
  readonly views: Database
  readonly nowMs: () => number
  /** Whether a turn of the span is waiting or running: such a span is not idle, however slow the model. */
  readonly isBusy: (spanId: string) => boolean
}): Ending {
  const { append, views, nowMs } = options
  const spans = createOpenSpanQueries(views)
  const byId = views.prepare<[string], { id: string; endedAt: string | null }>(
    'SELECT id, endedAt FROM conversations WHERE id = ?',
  )
  const open = views.prepare<[], { id: string; endedAt: string | null }>(
    'SELECT id, endedAt FROM conversations WHERE endedAt IS NULL ORDER BY startSeq DESC LIMIT 1',
  )

  return {
    async endConversation(conversationId) {
      const conversation = conversationId === undefined ? open.get() : byId.get(conversationId)
      if (!conversation) return 'not_found'
      if (conversation.endedAt !== null) return 'already_ended'
      const { id } = conversation
      const closings = spans.all().filter((span) => span.kind === 'interaction' && span.conversationId === id)
      const result = await append([
        ...closings.map((span): NewEvent => closed(span, 'conversation_ended')),
        {
          type: 'conversation.ended',
          actor: 'owner',
          channel: 'chat',
          conversationId: id,
          key: `conversation-ended:${id}`,
          facts: { reason: 'owner' },
        },
      ])
      return result.status === 'appended' ? 'ended' : 'already_ended'
    },
    async closeIdleSpans(idleMs) {
      const idle = spans.all().filter(
        (span) =>
          span.kind === 'interaction' &&
          // To a clock that was ahead and is right again the last thing has yet to happen.
          Math.abs(nowMs() - Date.parse(span.lastAt)) >= idleMs &&
          !options.isBusy(span.spanId),
      )
      for (const span of idle) await append([closed(span, 'idle')])
      return idle
    },
  }
}

function closed(span: OpenSpanRow, reason: 'idle' | 'conversation_ended'): NewEvent {
  return {
    type: 'span.closed',
    actor: 'service',
    conversationId: span.conversationId,
    spanId: span.spanId,
    key: `span-closed:${span.spanId}`,
    facts: { reason },
  }
}
