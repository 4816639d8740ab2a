import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import { countKinds, excerptOf, type Kind, kindOf } from './kinds.ts'
import type { ErasurePlan } from './plan.ts'

export type PlanItem = {
  readonly seq: number
  readonly at: string
  readonly text: string
  /** The redacted copy, if the reply also says something else. */
  readonly after?: string
}
export type PlanGroup = { readonly kind: Kind; readonly count: number; readonly items: readonly PlanItem[] }

/** A plan as shown to the owner. */
export type PlanDescription = {
  /** Number of erased events. */
  readonly count: number
  readonly named: readonly PlanGroup[]
  /** Derived events, erased as well. */
  readonly derived: readonly PlanGroup[]
  /** Events that quote the erased words but keep them. */
  readonly stays: readonly PlanGroup[]
}

const ITEMS_A_GROUP = 20

/** Groups a plan's events by kind, with excerpts. */
export function describePlan(
  plan: ErasurePlan,
  events: readonly AnyEvent[],
  ledger: LedgerReader,
): PlanDescription {
  const named = new Set(plan.roots.map(({ seq }) => seq))
  const after = new Map(plan.redactions.map(({ seq, text }) => [seq, text]))
  return {
    count: events.length,
    named: groupsOf(
      events.filter(({ seq }) => named.has(seq)),
      after,
    ),
    derived: groupsOf(
      events.filter(({ seq }) => !named.has(seq)),
      after,
    ),
    stays: groupsOf(ledger.readSeqs(plan.stays), after),
  }
}

function groupsOf(events: readonly AnyEvent[], after: ReadonlyMap<number, string>): PlanGroup[] {
  return countKinds(events).map(({ kind, count }) => {
    const items: PlanItem[] = []
    for (const event of events) {
      const text = kindOf(event) === kind && items.length < ITEMS_A_GROUP ? excerptOf(event) : null
      if (text === null) continue
      const redacted = after.get(event.seq)
      items.push({
        seq: event.seq,
        at: event.at,
        text,
        ...(redacted === undefined ? {} : { after: redacted }),
      })
    }
    return { kind, count, items }
  })
}
