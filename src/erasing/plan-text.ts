import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import { countKinds, excerptOf, kindOf } from './kinds.ts'
import type { ErasurePlan } from './plan.ts'

/** A plan as shown to the owner. */
export type PlanDescription = ReturnType<typeof describePlan>
export type PlanGroup = ReturnType<typeof groupsOf>[number]

const ITEMS_A_GROUP = 20

/** Groups a plan's events by kind, with excerpts. */
export function describePlan(plan: ErasurePlan, events: readonly AnyEvent[], ledger: LedgerReader) {
  const roots = new Set(plan.roots.map(({ seq }) => seq))
  const after = new Map(plan.redactions.map(({ seq, text }) => [seq, text]))
  const isNamed = ({ seq }: AnyEvent) => roots.has(seq)
  return {
    /** Number of erased events. */
    count: events.length,
    named: groupsOf(events.filter(isNamed), after),
    /** Derived events, erased as well. */
    derived: groupsOf(
      events.filter((event) => !isNamed(event)),
      after,
    ),
    /** Events that quote the erased words but keep them. */
    stays: groupsOf(
      ledger.readSeqs(plan.stays).filter(({ erased }) => !erased),
      after,
    ),
  }
}

function groupsOf(events: readonly AnyEvent[], redacted: ReadonlyMap<number, string>) {
  return countKinds(events).map(({ kind, count }) => {
    const items = events
      .filter((event) => kindOf(event) === kind)
      .flatMap((event) => {
        const text = excerptOf(event)
        const after = redacted.get(event.seq)
        // `after`: the redacted copy, if the reply also says something else.
        return text === null
          ? []
          : [{ seq: event.seq, at: event.at, text, ...(after === undefined ? {} : { after }) }]
      })
    return { kind, count, items: items.slice(0, ITEMS_A_GROUP) }
  })
}
