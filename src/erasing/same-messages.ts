import { createTurnQueries } from '../../projections/turns.ts'
import type { Storage } from '../storage/storage.ts'

/**
 * Finds the same message before and after the owner asked it again. Each has the words, but the timeline shows them
 * once.
 */
export function createSameMessages({
  views,
  ledger,
}: Pick<Storage, 'views' | 'ledger'>): (seq: number) => readonly number[] {
  const { replacedWith, replacedAt } = createTurnQueries(views)

  /** Whether a message repeats the one that it replaces. */
  function repeats(seq: number): boolean {
    const [event] = ledger.readSeqs([seq])
    return event?.type === 'chat.message.received' && event.facts.replaces?.sameWords === true
  }

  return (seq) => {
    const found: number[] = []
    let later = seq
    for (let earlier = replacedAt(later); earlier !== null && repeats(later); earlier = replacedAt(later)) {
      found.push(earlier)
      later = earlier
    }
    for (let next = replacedWith(seq); next !== null && repeats(next); next = replacedWith(next))
      found.push(next)
    return found
  }
}
