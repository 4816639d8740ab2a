import { createHash } from 'node:crypto'
import type { Append } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { TurnRow } from '../../projections/turns.ts'
import type { Placement } from '../conversation/placement.ts'

/** Where a message of the owner came to stand. */
export type ReceivedMessage = {
  readonly turnId: string
  readonly conversationId: string
  readonly spanId: string
}

/** How a turn ended, for the one who asked. */
export type TurnOutcome = ReceivedMessage &
  (
    | {
        readonly status: 'replied' | 'stopped'
        readonly text: string
        readonly usage: {
          readonly inputTokens: number
          readonly outputTokens: number
          readonly cachedTokens: number
        }
      }
    | { readonly status: 'failed'; readonly kind: string; readonly text: string }
  )

export type ChatChannel = {
  /** The message is durable when this resolves. The same `clientMessageId` again finds the first one. */
  receive(
    text: string,
    clientMessageId: string | undefined,
    /** `isSpoken`: to a device, so anybody in the room may have said it. */
    how?: { readonly isSpoken: boolean },
  ): Promise<ReceivedMessage>
  /** Resolves when the turn has ended; rejects when `signal` aborts first. */
  outcomeOf(message: ReceivedMessage, signal: AbortSignal): Promise<TurnOutcome>
  /** How the turn has ended, and with which event; null while it goes on. */
  ended(message: ReceivedMessage): { readonly seq: number; readonly outcome: TurnOutcome } | null
}

/** The browser's way in: a message becomes a fact; its outcome is read back from the facts that follow. */
export function createChatChannel(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly placement: Placement
  readonly turnById: (turnId: string) => TurnRow | undefined
  readonly onHeadMoved: SubscribeHead
  readonly newId: () => string
}): ChatChannel {
  const { ledger, placement, turnById, newId } = options

  function textOf(turn: TurnRow): string {
    const [event] = turn.replySeq === null ? [] : ledger.readSeqs([turn.replySeq])
    if (
      event?.type === 'chat.reply.sent' ||
      event?.type === 'chat.reply.stopped' ||
      event?.type === 'turn.failed'
    ) {
      return event.body?.text ?? ''
    }
    return ''
  }

  function ended(message: ReceivedMessage): { seq: number; outcome: TurnOutcome } | null {
    const turn = turnById(message.turnId)
    return turn?.endedSeq ? { seq: turn.endedSeq, outcome: outcome(message, turn) } : null
  }

  function outcome(message: ReceivedMessage, turn: TurnRow): TurnOutcome {
    const text = textOf(turn)
    if (turn.status === 'failed') return { ...message, status: 'failed', kind: turn.kind ?? 'internal', text }
    const { inputTokens, outputTokens, cachedTokens } = turn
    return {
      ...message,
      status: turn.status === 'stopped' ? 'stopped' : 'replied',
      text,
      usage: { inputTokens, outputTokens, cachedTokens },
    }
  }

  return {
    ended,
    async receive(text, clientMessageId, { isSpoken } = { isSpoken: false }) {
      const turnId = newId()
      const key = clientMessageId === undefined ? undefined : keyOf(clientMessageId)
      const result = await placement.appendToInteraction('chat', ({ conversationId, spanId }) => {
        return [
          {
            type: 'chat.message.received',
            actor: 'owner',
            channel: 'chat',
            conversationId,
            spanId,
            turnId,
            key,
            facts: isSpoken ? { spoken: true } : {},
            body: { text },
          },
        ]
      })
      const event = result.status === 'appended' ? result.events.at(-1) : result.existing
      if (!event?.turnId || !event.conversationId || !event.spanId)
        throw new Error('a message has no place in the ledger')
      return { turnId: event.turnId, conversationId: event.conversationId, spanId: event.spanId }
    },
    outcomeOf(message, signal) {
      return new Promise((resolve, reject) => {
        const unsubscribe = options.onHeadMoved(check, ['turn'])
        const onAbort = () => finish(() => reject(signal.reason))
        function finish(settle: () => void): void {
          unsubscribe()
          signal.removeEventListener('abort', onAbort)
          settle()
        }
        function check(): void {
          const end = ended(message)
          if (end) finish(() => resolve(end.outcome))
        }
        signal.addEventListener('abort', onAbort)
        if (signal.aborted) onAbort()
        else check()
      })
    },
  }
}

/** A client's own id may be anything; the ledger's keys are permanent, so only its digest goes there. */
function keyOf(clientMessageId: string): string {
  return `chat:${createHash('sha256').update(clientMessageId).digest('hex')}`
}
