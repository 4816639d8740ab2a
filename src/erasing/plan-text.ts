import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import { countKinds, excerptOf, isUnshown, type Kind, kindOf } from './kinds.ts'
import type { ErasurePlan } from './plan.ts'

/** A plan as shown to the owner. */
export type PlanDescription = ReturnType<typeof describePlan>
export type PlanGroup = ReturnType<typeof groupsOf>[number]

const ITEMS_A_GROUP = 20

/**
 * Groups a plan's events by kind, with excerpts. `events` may be outlines; `words` reads the excerpts, and `ledger` what
 * stays.
 */
export function describePlan(
  plan: ErasurePlan,
  events: readonly AnyEvent[],
  { words, ledger }: { readonly words: LedgerReader; readonly ledger: LedgerReader },
) {
  const roots = new Set(plan.roots.map(({ seq }) => seq))
  const after = new Map(plan.redactions.map(({ seq, text }) => [seq, text]))
  const isNamed = ({ seq }: AnyEvent) => roots.has(seq)
  const stays = ledger.outlinesOf(plan.stays).filter(({ erased }) => !erased)
  return {
    /** Number of erased events. */
    count: events.length,
    named: groupsOf(events.filter(isNamed), after, words),
    /** Derived events, erased as well. */
    derived: groupsOf(
      events.filter((event) => !isNamed(event)),
      after,
      words,
    ),
    /** Events that quote the erased words but keep them. */
    stays: groupsOf(stays, after, ledger),
  }
}

function groupsOf(events: readonly AnyEvent[], redacted: ReadonlyMap<number, string>, words: LedgerReader) {
  return countKinds(events).map(({ kind, count }) => ({
    kind,
    count,
    items: [...excerptsOf(events, kind, words)].map(({ seq, at, text }) => {
      // The redacted copy, if the reply also says something else.
      const after = redacted.get(seq)
      return { seq, at, text, ...(after === undefined ? {} : { after }) }
    }),
  }))
}

function* excerptsOf(events: readonly AnyEvent[], kind: Kind, words: LedgerReader) {
  if (isUnshown(kind)) return
  let count = 0
  for (const { seq, at } of events.filter((event) => kindOf(event) === kind)) {
    const [event] = words.readSeqs([seq])
    const text = event ? excerptOf(event) : null
    if (text === null) continue
    yield { seq, at, text }
    count += 1
    if (count === ITEMS_A_GROUP) return
  }
}
