import type { AnyEvent } from '../../ledger/reader.ts'
import type { ContextItem } from '../agent/context.ts'
import { estimateItemTokens } from '../model/tokens.ts'
import type { SessionPlan } from '../voice/ports.ts'

export type HistoryItem = SessionPlan['history'][number]
/** Wraps what is nobody's words, so that nothing in it can end the wrapping. */
export type Delimit = (label: string, text: string) => string

/** What a session is told of the past: enough to go on, little enough to begin at once. */
const HISTORY_TOKENS = 6_000

/** The newest items of the chain that fit, as history, the facts that they tell, and whether any was left out. */
export function recentHistory(
  items: readonly ContextItem[],
  delimit: Delimit,
): { readonly history: readonly HistoryItem[]; readonly seqs: readonly number[]; readonly isWhole: boolean } {
  const history: HistoryItem[] = []
  const told: number[] = []
  let tokens = 0
  for (const { item, seqs } of items.toReversed()) {
    tokens += estimateItemTokens(item)
    if (tokens > HISTORY_TOKENS) return { history, seqs: told, isWhole: false }
    told.push(...seqs)
    const entry = historyItem(item, delimit)
    if (entry) history.unshift(entry)
  }
  return { history, seqs: told, isWhole: true }
}

/** What was done by tools is told in the replies; a call itself could not be seeded. */
export function historyItem(item: ContextItem['item'], delimit: Delimit): HistoryItem | null {
  if (item.type === 'message') {
    if (item.role === 'guest') return { role: 'inner', text: delimit('guest, not the owner', item.text) }
    return { role: item.role === 'owner' ? 'caller' : 'delegate', text: item.text }
  }
  return item.type === 'inner' ? { role: 'inner', text: delimit(item.label, item.text) } : null
}

/** What a stranger and the delegate said to each other, out of those facts alone. */
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
