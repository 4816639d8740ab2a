import type { Database } from 'better-sqlite3'
import type { EventOf, LedgerEvent } from '../../ledger/event.ts'
import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import { createRunQueries } from '../../projections/timeline-runs.ts'
import type { InputItem, ModelId } from '../model/port.ts'
import type { IsForeign } from './foreign.ts'
import { oneLine } from './signals-text.ts'
import { replyKey, textWithMedia } from './sms-text.ts'

/** An item of the model's input, and the facts that it repeats. */
export type ContextItem = {
  readonly item: InputItem
  readonly seqs: readonly number[]
  /** What an opaque item says. */
  readonly quotable?: string
  /** Whether words of others may be in it. */
  readonly foreign: boolean
}

/** What one turn adds to the context, while it is not known yet whether it will stand. */
type OpenTurn = readonly ContextItem[]

/** The context as folded so far: turns that stand, and those under way. */
export type ContextState = {
  readonly readSeq: number
  readonly items: readonly ContextItem[]
  /** What the model is given of the items, and the facts of all, in their order: kept beside, for each turn asks for them. */
  readonly input: readonly InputItem[]
  readonly seqs: readonly number[]
  readonly open: ReadonlyMap<string, OpenTurn>
}

export const emptyContext = (fromSeq: number): ContextState => ({
  readSeq: fromSeq,
  items: [],
  input: [],
  seqs: [],
  open: new Map(),
})

/** A tool's result in a later turn's context: enough to go on from; the whole stays in the ledger. */
const PAST_RESULT_CHARS = 4000

/** Whether an event is passed over: its words, or what it was made from, are no more to be looked at. */
export type IsPassedOver = (event: LedgerEvent) => boolean

/**
 * Folds events into the context. A turn's items join it when the turn ends well or was stopped; those of a failed
 * turn never do, so it leaves the chain as it was. Erased words are passed over, and so is what `isPassedOver` names.
 */
export function foldContext(
  state: ContextState,
  events: readonly AnyEvent[],
  isPassedOver: IsPassedOver = () => false,
  isForeign: IsForeign = () => true,
): ContextState {
  const joined: ContextItem[] = []
  const open = new Map(state.open)
  for (const event of events) {
    if (event.type === 'unknown') continue
    const { turnId } = event
    const said = wordsOf(event)
    const added = said && !isPassedOver(event) ? { ...said, foreign: isForeign(event) } : null
    // What was said in a call was said, whatever becomes of the turn: the caller has heard it.
    if (turnId === null || event.type === 'call.reply.spoken') {
      if (added) joined.push(added)
      continue
    }
    if (added) open.set(turnId, [...(open.get(turnId) ?? []), added])
    if (event.type === 'turn.completed') {
      joined.push(...withoutOrphans(open.get(turnId) ?? []))
      open.delete(turnId)
    } else if (event.type === 'turn.failed') {
      open.delete(turnId)
    }
  }
  const readSeq = events.at(-1)?.seq ?? state.readSeq
  // A turn reads its chain three times: what is as it was is not copied again.
  if (joined.length === 0) return { ...state, readSeq, open }
  return {
    readSeq,
    items: state.items.concat(joined),
    input: state.input.concat(joined.map(({ item }) => item)),
    seqs: state.seqs.concat(joined.flatMap(({ seqs }) => seqs)),
    open,
  }
}

/** What an event says to the model; null when it says nothing. */
function wordsOf(event: LedgerEvent): Omit<ContextItem, 'foreign'> | null {
  const seqs = [event.seq]
  switch (event.type) {
    case 'chat.message.received':
      return (
        event.body && { seqs, item: { type: 'message', role: 'owner', text: event.body.text, at: event.at } }
      )
    case 'sms.received':
      if (event.facts.party !== 'owner' || !event.body) return null
      return { seqs, item: { type: 'message', role: 'owner', text: textWithMedia(event), at: event.at } }
    case 'call.utterance.heard':
      if (event.facts.party !== 'owner' || !event.body?.text) return null
      return { seqs, item: { type: 'message', role: 'owner', text: event.body.text, at: event.at } }
    case 'task.finished':
    case 'task.failed':
      if (!event.body) return null
      return { seqs, item: { type: 'inner', label: OUTCOME_LABEL, text: outcomeText(event) } }
    case 'timer.fired':
      if (!event.body) return null
      return { seqs, item: { type: 'inner', label: REMINDER_LABEL, text: oneLine(event.body.text) } }
    case 'chat.reply.sent':
      // The outcome of a task, delivered: it stands above as what it is, and is nobody's reply.
      if (event.facts.deliveryId !== undefined || !event.body?.text) return null
      return { seqs, item: { type: 'message', role: 'delegate', text: event.body.text, at: event.at } }
    case 'chat.reply.stopped':
    case 'call.reply.spoken':
      if (!event.body?.text) return null
      return { seqs, item: { type: 'message', role: 'delegate', text: event.body.text, at: event.at } }
    case 'delivery.requested':
      // The reply of a turn by text; any other delivery is known by what asked for it.
      if (!event.body || event.turnId === null || event.key !== replyKey(event.turnId)) return null
      return { seqs, item: { type: 'message', role: 'delegate', text: event.body.text, at: event.at } }
    case 'tool.called':
      if (!event.body) return null
      return {
        seqs,
        item: {
          type: 'tool_call',
          callId: event.facts.callId,
          name: event.facts.tool,
          arguments: event.body.arguments,
        },
      }
    case 'tool.returned':
      return {
        // An erased result repeats nothing. Named as a source, it would erase whatever is made from the chain.
        seqs: event.body ? seqs : [],
        item: {
          type: 'tool_result',
          callId: event.facts.callId,
          output: event.body?.result.slice(0, PAST_RESULT_CHARS).toWellFormed() ?? '{"erased":true}',
        },
      }
    default:
      return null
  }
}

const REMINDER_LABEL = 'reminder that the owner was shown'
const OUTCOME_LABEL = 'outcome of a task of the coding assistant'

/** What the coding assistant came to: data, whatever it says. */
function outcomeText({ type, facts, body }: EventOf<'task.finished'> | EventOf<'task.failed'>): string {
  const how = type === 'task.finished' ? 'It finished.' : `It failed (${facts.kind}).`
  return `${how} ${body?.text ?? ''}`.slice(0, PAST_RESULT_CHARS).toWellFormed()
}

/**
 * A turn's items without a call that lacks its result, or the reverse: model services refuse either, and an erasure
 * may leave either.
 */
function withoutOrphans(items: readonly ContextItem[]): ContextItem[] {
  const called = new Set<string>()
  const returned = new Set<string>()
  for (const { item } of items) {
    if (item.type === 'tool_call') called.add(item.callId)
    else if (item.type === 'tool_result') returned.add(item.callId)
  }
  return items.filter(({ item }) => {
    if (item.type === 'tool_call') return returned.has(item.callId)
    if (item.type === 'tool_result') return called.has(item.callId)
    return true
  })
}

/** What a context begins after: everything through `throughSeq`, and of what came later that which is `covered`. */
export type ContextBase = {
  /** The fact that stands in for it all; 0 for none. */
  readonly seq: number
  readonly throughSeq: number
  readonly covered: ReadonlySet<number>
}

export type ContextReader = {
  /**
   * The context of a conversation after its base: the turns that stand. Null while there is more to be folded than the
   * event loop may be held for: then it is to be asked again, after whatever else has come meanwhile.
   */
  read(conversationId: string, base: ContextBase): ContextState | null
  /** Drops what was folded, once less of it may be looked at. */
  reset(): void
}

/** About a millisecond of the event loop. */
const EVENTS_AT_ONCE = 64

/** Reads the context through a fold that goes on where it stopped, so a turn costs what is new, not what was. */
export function createContextReader(
  views: Database,
  ledger: LedgerReader,
  isPassedOver: IsPassedOver,
  isForeign: IsForeign,
): ContextReader {
  const conversationStart = views.prepare<[string], { startSeq: number }>(
    'SELECT startSeq FROM timeline_conversations WHERE conversationId = ?',
  )
  const runs = createRunQueries(views)
  let cached: { conversationId: string; baseSeq: number; state: ContextState } | null = null
  let started: { readonly conversationId: string; readonly seq: number } | null = null

  /** Where a conversation began, which never changes; undefined before its first fact. */
  function startOf(conversationId: string): number | undefined {
    if (started?.conversationId === conversationId) return started.seq
    const row = conversationStart.get(conversationId)
    if (row) started = { conversationId, seq: row.startSeq }
    return row?.startSeq
  }

  /** The next events of a conversation, and how far they reach. */
  function eventsAfter(
    conversationId: string,
    seq: number,
  ): { events: readonly AnyEvent[]; readSeq: number; isAll: boolean } {
    const start = startOf(conversationId)
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
    read(conversationId, base) {
      const usable = cached?.conversationId === conversationId && cached.baseSeq === base.seq
      const state = usable && cached ? cached.state : emptyContext(base.throughSeq)
      const { events, readSeq, isAll } = eventsAfter(conversationId, state.readSeq)
      const fresh = events.filter(({ seq }) => !base.covered.has(seq))
      const read = { ...foldContext(state, fresh, isPassedOver, isForeign), readSeq }
      cached = { conversationId, baseSeq: base.seq, state: read }
      return isAll ? read : null
    },
    reset() {
      cached = null
    },
  }
}

/** Whether a kept blob may be sent to a model: only to the very one that made it. */
export function isSameModel(a: ModelId, b: ModelId): boolean {
  return a.provider === b.provider && a.model === b.model
}
