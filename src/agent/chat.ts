import { createHash } from 'node:crypto'
import type { Append, EventOf } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { TurnRow } from '../../projections/turns.ts'
import type { Usage } from '../model/port.ts'
import type { Placement } from '../storage/placement.ts'

/** Start and end of each pasted part of a text. */
export type Pasted = NonNullable<EventOf<'chat.message.received'>['facts']['pasted']>

/** The model that the owner chose for one message. */
type Choice = EventOf<'chat.message.received'>['facts']['model']

/** The place of a received message in the ledger. */
export type ReceivedMessage = {
  readonly turnId: string
  readonly conversationId: string
  readonly spanId: string
}

/** How the turn of a message ended. */
export type TurnOutcome = ReceivedMessage &
  (
    | {
        readonly status: 'replied' | 'stopped'
        readonly text: string
        readonly usage: Usage
      }
    | { readonly status: 'failed'; readonly kind: string; readonly text: string }
  )

/** Records messages from the browser, and reads their outcome from the facts that follow. */
export function createChatChannel(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly placement: Placement
  readonly turnById: (turnId: string) => TurnRow | undefined
  readonly onHeadMoved: SubscribeHead
  readonly newId: () => string
}) {
  const { ledger, placement, turnById, newId } = options

  /** The outcome of the turn and its last event; null while the turn is in progress. */
  function ended(message: ReceivedMessage): { seq: number; outcome: TurnOutcome } | null {
    const turn = turnById(message.turnId)
    return turn?.endedSeq ? { seq: turn.endedSeq, outcome: outcome(message, turn) } : null
  }

  function outcome(message: ReceivedMessage, turn: TurnRow): TurnOutcome {
    const [event] = turn.replySeq === null ? [] : ledger.readSeqs([turn.replySeq])
    const text = event?.type !== 'unknown' && event?.body && 'text' in event.body ? event.body.text : ''
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
    /** Whether a message with this id was received before. */
    wasReceived: (clientMessageId: string | undefined): boolean =>
      clientMessageId !== undefined && ledger.rowByKey(keyOf(clientMessageId)) !== undefined,
    /**
     * Resolves once the message is durable. Idempotent by `clientMessageId`. `isSpoken`: dictated to a device,
     * so anybody in the room may have said it. `pasted`: the parts that anybody may have written. `model`: what
     * answers this message.
     */
    async receive(
      text: string,
      clientMessageId: string | undefined,
      {
        isSpoken = false,
        pasted = [],
        model,
      }: {
        readonly isSpoken?: boolean
        readonly pasted?: Pasted
        readonly model?: Choice | undefined
      } = {},
    ): Promise<ReceivedMessage> {
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
            facts: {
              ...(isSpoken && { spoken: true }),
              ...(pasted.length > 0 && { pasted: [...pasted] }),
              ...(model && { model: { ...model } }),
            },
            body: { text },
          },
        ]
      })
      const event = result.status === 'appended' ? result.events.at(-1) : result.existing
      if (!event?.turnId || !event.conversationId || !event.spanId)
        throw new Error('the message has no span in the ledger')
      return { turnId: event.turnId, conversationId: event.conversationId, spanId: event.spanId }
    },
    /** Resolves when the turn has ended. Rejects if `signal` aborts first. */
    async outcomeOf(message: ReceivedMessage, signal: AbortSignal): Promise<TurnOutcome> {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<TurnOutcome>()
      const onAbort = () => reject(signal.reason)
      const check = () => {
        const end = ended(message)
        if (end) resolve(end.outcome)
      }
      const unsubscribe = options.onHeadMoved(check, ['turn'])
      signal.addEventListener('abort', onAbort)
      try {
        check()
        return await promise
      } finally {
        unsubscribe()
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}

/** Ledger keys are permanent and a client's id may be anything, so the key holds only its digest. */
function keyOf(clientMessageId: string): string {
  return `chat:${createHash('sha256').update(clientMessageId).digest('hex')}`
}
