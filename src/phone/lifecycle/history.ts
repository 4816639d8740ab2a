import type { AnyEvent } from '../../../ledger/reader.ts'
import { estimateItemTokens } from '../../model/tokens.ts'
import type { SessionPlan } from '../call/ports.ts'
import type { PastItem } from './mind.ts'

export type HistoryItem = SessionPlan['history'][number]
/** Wraps data so that nothing in it can close the wrapper. */
export type Delimit = (label: string, text: string) => string

/** Enough to continue the conversation, little enough to begin at once. */
const HISTORY_TOKENS = 6_000

/** The newest items of the chain that fit, and their facts. `isWhole` is false if any were left out. */
export function recentHistory(
  items: readonly PastItem[],
  delimit: Delimit,
): { readonly history: readonly HistoryItem[]; readonly seqs: readonly number[]; readonly isWhole: boolean } {
  const history: HistoryItem[] = []
  const included: number[] = []
  let tokens = 0
  for (const { item, seqs } of items.toReversed()) {
    tokens += estimateItemTokens(item)
    if (tokens > HISTORY_TOKENS) return { history, seqs: included, isWhole: false }
    included.push(...seqs)
    const entry = historyItem(item, delimit)
    if (entry) history.unshift(entry)
  }
  return { history, seqs: included, isWhole: true }
}

/** Null for a tool call: it cannot be seeded, and the replies mention its result. */
export function historyItem(item: PastItem['item'], delimit: Delimit): HistoryItem | null {
  if (item.type === 'message') {
    if (item.role === 'guest') return { role: 'inner', text: delimit('guest, not the owner', item.text) }
    return { role: item.role === 'owner' ? 'caller' : 'delegate', text: item.text }
  }
  return item.type === 'inner' ? { role: 'inner', text: delimit(item.label, item.text) } : null
}

/** What a guest and the delegate said to each other. */
export function guestHistory(events: readonly AnyEvent[]): HistoryItem[] {
  return events.flatMap((event): HistoryItem[] => {
    switch (event.type) {
      case 'call.utterance.heard':
      case 'sms.received':
        return event.facts.party === 'guest' && event.body?.text
          ? [{ role: 'caller', text: event.body.text }]
          : []
      case 'call.reply.spoken':
      case 'sms.sent':
        return event.body?.text ? [{ role: 'delegate', text: event.body.text }] : []
      default:
        return []
    }
  })
}
