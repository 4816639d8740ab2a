import type { Database } from 'better-sqlite3'
import type { EventOf, LedgerEvent } from '../../../ledger/event.ts'
import type { AnyEvent, LedgerReader } from '../../../ledger/reader.ts'
import { createRunQueries } from '../../../projections/timeline-runs.ts'
import { oneLine } from '../../lib/shorten.ts'
import type { InputItem } from '../../model/port.ts'
import { typedWords } from '../../text/pasted.ts'
import type { IsForeign } from '../turn/foreign.ts'
import { replyKey, textWithMedia } from '../turn/sms-text.ts'

export type ContextItem = {
  readonly item: InputItem
  readonly seqs: readonly number[]
  /** The text of an opaque item. */
  readonly quotable?: string
  /** Whether it may hold words of others. */
  readonly foreign: boolean
  /** A message of the owner without pasted words; absent if it has none. */
  readonly own?: InputItem
  /** Whether it belongs to a request that failed. */
  readonly isOfFailed?: true
}

/** The context folded so far: completed turns, requests that failed since the last one, and open turns. */
export type ContextState = {
  readonly readSeq: number
  readonly items: readonly ContextItem[]
  readonly failed: readonly (readonly ContextItem[])[]
  readonly open: ReadonlyMap<string, readonly ContextItem[]>
}

export const emptyContext = (fromSeq: number): ContextState => ({
  readSeq: fromSeq,
  items: [],
  failed: [],
  open: new Map(),
})

/** Failed requests kept at most, so that one whose words make every turn fail drops out again. */
const MAX_FAILED = 3

/** Failures that the words themselves may cause, and would cause again in the next turn. */
const FAILURES_BY_WORDS: ReadonlySet<string> = new Set(['refused', 'context_too_long', 'internal'])

/** A tool result is cut to this length in later turns. The ledger keeps all of it. */
const PAST_RESULT_CHARS = 4000

/** Whether to skip an event: it or one of its sources is barred. */
export type IsPassedOver = (event: LedgerEvent) => boolean

/**
 * Folds events into the context. A turn's items join when it completes. A request of the owner that failed, with what
 * was done for it, follows them until another turn completes.
 */
export function foldContext(
  state: ContextState,
  events: readonly AnyEvent[],
  isPassedOver: IsPassedOver = () => false,
  isForeign: IsForeign = () => true,
): ContextState {
  const joined: ContextItem[] = []
  let failed = state.failed
  const open = new Map(state.open)
  for (const event of events) {
    if (event.type === 'unknown') continue
    const { turnId } = event
    const item = isPassedOver(event) ? null : itemOf(event)
    // As a source, an erased result would cause everything made from the chain to be erased.
    const seqs = event.erased ? [] : [event.seq]
    const added = item && { item, seqs, foreign: isForeign(event), ...ownPart(event) }
    // The caller has heard it even if the turn fails.
    if (turnId === null || event.type === 'call.reply.spoken') {
      if (added) joined.push(added)
      continue
    }
    // The text that reports a failure follows the end of its turn, where the failure is an item already.
    const isOver = event.type === 'delivery.requested' && !open.has(turnId)
    if (added && !isOver) open.set(turnId, [...(open.get(turnId) ?? []), added])
    if (event.type !== 'turn.completed' && event.type !== 'turn.failed') continue
    const turn = open.get(turnId) ?? []
    open.delete(turnId)
    if (event.type === 'turn.completed') {
      joined.push(...turn)
      failed = []
    } else if (isRequest(turn) && !FAILURES_BY_WORDS.has(event.facts.kind)) {
      failed = [...failed, asFailed(turn)].slice(-MAX_FAILED)
    }
  }
  return { readSeq: events.at(-1)?.seq ?? state.readSeq, items: state.items.concat(joined), failed, open }
}

const isRequest = (turn: readonly ContextItem[]) =>
  turn.some(({ item }) => item.type === 'message' && item.role === 'owner')

/** Marks the items of a failed turn. A call that was cut off may have acted all the same. */
function asFailed(turn: readonly ContextItem[]): ContextItem[] {
  const returned = new Set(turn.map(({ item }) => (item.type === 'tool_result' ? item.callId : null)))
  return turn.flatMap((each): ContextItem[] => {
    const { item } = each
    const marked = { ...each, isOfFailed: true } as const
    if (item.type !== 'tool_call' || returned.has(item.callId)) return [marked]
    const result = { type: 'tool_result', callId: item.callId, output: UNKNOWN_OUTCOME } as const
    return [marked, { ...marked, item: result }]
  })
}

/** The item that an event adds to the input; null if it adds none. */
function itemOf(event: LedgerEvent): InputItem | null {
  switch (event.type) {
    case 'chat.message.received':
      return said('owner', event, event.body?.text)
    case 'sms.received':
      return event.facts.party === 'owner' && event.body ? said('owner', event, textWithMedia(event)) : null
    case 'call.utterance.heard':
      return event.facts.party === 'owner' ? said('owner', event, event.body?.text) : null
    case 'task.finished':
    case 'task.failed':
      return event.body && { type: 'inner', label: OUTCOME_LABEL, text: outcomeText(event) }
    case 'timer.fired':
      return event.body && { type: 'inner', label: REMINDER_LABEL, text: oneLine(event.body.text) }
    case 'chat.reply.sent':
      // The delivered outcome of a task is already in the context as the outcome itself.
      return event.facts.deliveryId === undefined ? said('delegate', event, event.body?.text) : null
    case 'chat.reply.stopped':
    case 'call.reply.spoken':
      return said('delegate', event, event.body?.text)
    case 'turn.failed':
      return event.body && { type: 'inner', label: FAILURE_LABEL, text: event.body.text }
    case 'delivery.requested':
      // Only the reply of a turn by text. Other deliveries repeat an event that is in the context.
      if (event.turnId === null || event.key !== replyKey(event.turnId)) return null
      return said('delegate', event, event.body?.text)
    case 'tool.called': {
      const { callId, tool: name } = event.facts
      return event.body && { type: 'tool_call', callId, name, arguments: event.body.arguments }
    }
    case 'tool.returned': {
      const output = event.body?.result.slice(0, PAST_RESULT_CHARS).toWellFormed() ?? '{"erased":true}'
      return { type: 'tool_result', callId: event.facts.callId, output }
    }
    default:
      return null
  }
}

function ownPart(event: LedgerEvent): Pick<ContextItem, 'own'> {
  if (event.type !== 'chat.message.received' || !event.facts.pasted?.length) return {}
  const own = said('owner', event, typedWords(event))
  return own ? { own } : {}
}

function said(role: 'owner' | 'delegate', { at }: LedgerEvent, text: string | undefined): InputItem | null {
  return text ? { type: 'message', role, text, at } : null
}

const REMINDER_LABEL = 'reminder that the owner was shown'
const UNKNOWN_OUTCOME =
  '{"ok":false,"message":"It is not known whether this was done. Look before you try again."}'
const FAILURE_LABEL = 'failure reported to the owner'
const OUTCOME_LABEL = 'outcome of a task of the coding assistant'

/** The outcome of a task as data, never as instructions. */
function outcomeText({ type, facts, body }: EventOf<'task.finished'> | EventOf<'task.failed'>): string {
  const how = type === 'task.finished' ? 'It finished.' : `It failed (${facts.kind}).`
  return `${how} ${body?.text ?? ''}`.slice(0, PAST_RESULT_CHARS).toWellFormed()
}

/** Where a context starts: after `throughSeq`, without the later seqs in `covered`. */
export type ContextBase = {
  /** The seq of the replacement; 0 for none. */
  readonly seq: number
  readonly throughSeq: number
  readonly covered: ReadonlySet<number>
}

/** Events per slice, about 1 ms. */
const EVENTS_AT_ONCE = 64

/** Reads the context through an incremental fold, so a turn pays only for new events. */
export function createContextReader(
  views: Database,
  ledger: LedgerReader,
  isPassedOver: IsPassedOver,
  isForeign: IsForeign,
) {
  const conversationStart = views.prepare<[string], { startSeq: number }>(
    'SELECT startSeq FROM timeline_conversations WHERE conversationId = ?',
  )
  const runs = createRunQueries(views)
  let cached: { conversationId: string; baseSeq: number; state: ContextState } | null = null
  /** The next slice of events of a conversation and the seq that it reaches. */
  function eventsAfter(
    conversationId: string,
    seq: number,
  ): { events: readonly AnyEvent[]; readSeq: number; isAll: boolean } {
    const start = conversationStart.get(conversationId)?.startSeq
    const unread = start === undefined ? [] : runs.after(start, seq, EVENTS_AT_ONCE)
    const events: AnyEvent[] = []
    let readSeq = seq
    for (const { firstSeq, lastSeq } of unread) {
      readSeq = Math.min(lastSeq, firstSeq + EVENTS_AT_ONCE - events.length - 1)
      events.push(...ledger.readRange(firstSeq, readSeq))
      if (events.length >= EVENTS_AT_ONCE) break
    }
    return { events, readSeq, isAll: events.length < EVENTS_AT_ONCE }
  }

  return {
    /** Null if one slice was not enough: yield to the event loop and call again. */
    read(conversationId: string, base: ContextBase): ContextState | null {
      const usable = cached?.conversationId === conversationId && cached.baseSeq === base.seq
      const state = usable && cached ? cached.state : emptyContext(base.throughSeq)
      const { events, readSeq, isAll } = eventsAfter(conversationId, state.readSeq)
      const fresh = events.filter(({ seq }) => !base.covered.has(seq))
      const read = { ...foldContext(state, fresh, isPassedOver, isForeign), readSeq }
      cached = { conversationId, baseSeq: base.seq, state: read }
      return isAll ? read : null
    },
    reset(): void {
      cached = null
    },
  }
}
