import type { Database } from 'better-sqlite3'
import type { Append } from '../../../ledger/event.ts'
import { createOpenSpanQueries, type OpenSpanRow } from '../../../projections/open-spans.ts'
import { spanClosed } from '../../lib/spans.ts'

export type EndOutcome = 'ended' | 'not_found' | 'already_ended'

export type Ending = ReturnType<typeof createEnding>

export function createEnding(options: {
  readonly append: Append
  readonly views: Database
  readonly nowMs: () => number
  /** Whether a turn of the span waits or runs. Such a span is not idle, however slow the model is. */
  readonly isBusy: (spanId: string) => boolean
  /** Stops the owner's turns of a conversation but for a call's. Resolves when they have ended, or after some seconds. */
  readonly stopTurns: (conversationId: string) => Promise<void>
}) {
  const { append, views, nowMs } = options
  const spans = createOpenSpanQueries(views)
  const byId = views.prepare<[string], { id: string; endedAt: string | null }>(
    'SELECT id, endedAt FROM conversations WHERE id = ?',
  )
  const open = views.prepare<[], { id: string; endedAt: string | null }>(
    'SELECT id, endedAt FROM conversations WHERE endedAt IS NULL ORDER BY startSeq DESC LIMIT 1',
  )

  return {
    /** Ends a conversation for good; without an id, the open one. */
    async endConversation(conversationId: string | undefined): Promise<EndOutcome> {
      const conversation = conversationId === undefined ? open.get() : byId.get(conversationId)
      if (!conversation) return 'not_found'
      if (conversation.endedAt !== null) return 'already_ended'
      const { id } = conversation
      await options.stopTurns(id)
      const closings = spans.all().filter((span) => span.kind === 'interaction' && span.conversationId === id)
      const result = await append([
        ...closings.map((span) => spanClosed(span, 'conversation_ended')),
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
    /** The interactions idle for `idleMs`. */
    idleSpans: (idleMs: number): readonly OpenSpanRow[] =>
      spans.all().filter(
        (span) =>
          span.kind === 'interaction' &&
          // The clock may have been ahead at `lastAt`, hence the absolute value.
          Math.abs(nowMs() - Date.parse(span.lastAt)) >= idleMs &&
          !options.isBusy(span.spanId),
      ),
  }
}
