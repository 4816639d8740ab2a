import { createHash } from 'node:crypto'
import type { Append, EventOf, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { createTurnQueries, TurnRow } from '../../projections/turns.ts'
import { unlessAborted } from '../lib/waits.ts'
import type { Usage } from '../model/port.ts'
import type { Placement } from '../storage/placement.ts'
import { type PastedRanges, pastedAfterEdit } from '../text/pasted.ts'

type Facts = EventOf<'chat.message.received'>['facts']

/** What the words of a message alone do not tell. */
export type MessageOptions = {
  /** Dictated to a device, so anybody in the room may have said it. */
  readonly isSpoken?: boolean
  /** The parts that anybody may have written. */
  readonly pasted?: PastedRanges
  /** What answers this message. */
  readonly model?: Facts['model'] | undefined
}

/** Why a message cannot be replaced. */
export type NotReplaced = 'unknown' | 'not_last' | 'erased'

class NotReplaceable extends Error {
  readonly reason: NotReplaced
  constructor(reason: NotReplaced) {
    super(`the message cannot be replaced: ${reason}`)
    this.reason = reason
  }
}

/** What memory does about a message that another one takes the place of. */
export type ReplacedWords = {
  /** Runs work while learning is paused. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>
  /** Retires what was learned from the message alone. */
  readonly retire: (seq: number) => readonly NewEvent[]
}

/** The place of a received message in the ledger. */
export type ReceivedMessage = {
  readonly seq: number
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
  readonly turns: Pick<ReturnType<typeof createTurnQueries>, 'byId' | 'lastAsked'>
  readonly replacedWords: ReplacedWords
  readonly onHeadMoved: SubscribeHead
  readonly newId: () => string
}) {
  const { ledger, placement, turns, newId } = options

  /** The outcome of the turn and its last event; null while the turn is in progress. */
  function ended(message: ReceivedMessage): { seq: number; outcome: TurnOutcome } | null {
    const turn = turns.byId(message.turnId)
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

  /** Appends a message. `compose` tells the rest of it once nothing else can come before it. */
  async function record(
    text: string,
    clientMessageId: string | undefined,
    compose: () => MessageOptions & {
      readonly replaces?: Facts['replaces']
      /** Facts that go with it. */
      readonly others?: readonly NewEvent[]
    },
  ): Promise<ReceivedMessage> {
    const turnId = newId()
    const key = clientMessageId === undefined ? undefined : keyOf(clientMessageId)
    const result = await placement.appendToInteraction('chat', ({ conversationId, spanId }) => {
      const { isSpoken = false, pasted = [], model, replaces, others = [] } = compose()
      return [
        ...others,
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
            ...(replaces && { replaces }),
          },
          body: { text },
        },
      ]
    })
    const event = result.status === 'appended' ? result.events.at(-1) : result.existing
    if (!event?.turnId || !event.conversationId || !event.spanId)
      throw new Error('the message has no span in the ledger')
    const { seq, turnId: ownTurnId, conversationId, spanId } = event
    return { seq, turnId: ownTurnId, conversationId, spanId }
  }

  /** The message of a turn, if the owner has said nothing since. Throws NotReplaceable. */
  function lastMessage(turnId: string) {
    const turn = turns.byId(turnId)
    if (turn?.trigger !== 'message') throw new NotReplaceable('unknown')
    const isOpen = turn.conversationId === placement.openConversationId()
    if (!isOpen || turns.lastAsked()?.turnId !== turnId) throw new NotReplaceable('not_last')
    const [event] = ledger.readSeqs([turn.causeSeq])
    if (event?.type !== 'chat.message.received' || !event.body) throw new NotReplaceable('erased')
    return { seq: event.seq, facts: event.facts, text: event.body.text }
  }

  const wasReceived = (clientMessageId: string | undefined): boolean =>
    clientMessageId !== undefined && ledger.rowByKey(keyOf(clientMessageId)) !== undefined

  return {
    ended,
    /** Whether a message with this id was received before. */
    wasReceived,
    /** Resolves once the message is durable. Idempotent by `clientMessageId`. */
    receive: (text: string, clientMessageId: string | undefined, message: MessageOptions = {}) =>
      record(text, clientMessageId, () => message),
    /**
     * The same for a message that takes the place of the last one, which is named by its turn. That turn leaves the
     * context, and is stopped if it runs. What was pasted or spoken stays so in the new words.
     */
    async replace(
      turnId: string,
      text: string,
      clientMessageId: string | undefined,
      { pasted = [], model }: Omit<MessageOptions, 'isSpoken'>,
    ): Promise<ReceivedMessage | { readonly refused: NotReplaced }> {
      const compose = () => {
        // Its key is taken, so nothing is appended.
        if (wasReceived(clientMessageId)) return {}
        const { seq, facts, text: earlier } = lastMessage(turnId)
        const sameWords = text === earlier
        return {
          isSpoken: facts.spoken === true,
          pasted: pastedAfterEdit({ text: earlier, pasted: facts.pasted ?? [] }, text, pasted),
          model,
          replaces: { turnId, seq, sameWords },
          others: sameWords ? [] : options.replacedWords.retire(seq),
        }
      }
      try {
        return await options.replacedWords.exclusively(() => record(text, clientMessageId, compose))
      } catch (error) {
        if (error instanceof NotReplaceable) return { refused: error.reason }
        throw error
      }
    },
    /** Resolves when the turn has ended. Rejects if `signal` aborts first. */
    async outcomeOf(message: ReceivedMessage, signal: AbortSignal): Promise<TurnOutcome> {
      const { promise, resolve } = Promise.withResolvers<TurnOutcome>()
      const check = () => {
        const end = ended(message)
        if (end) resolve(end.outcome)
      }
      const unsubscribe = options.onHeadMoved(check, ['turn', 'chat'])
      try {
        check()
        return await unlessAborted(signal, promise)
      } finally {
        unsubscribe()
      }
    },
  }
}

/** Ledger keys are permanent and a client's id may be anything, so the key holds only its digest. */
function keyOf(clientMessageId: string): string {
  return `chat:${createHash('sha256').update(clientMessageId).digest('hex')}`
}
