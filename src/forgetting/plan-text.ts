import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import { countKinds, excerptOf, type Kind, kindOf } from './kinds.ts'
import type { ErasurePlan } from './plan.ts'

export type PlanItem = {
  readonly seq: number
  readonly at: string
  readonly text: string
  /** How a reply reads afterwards, where it says something else too. */
  readonly after?: string
}
export type PlanGroup = { readonly kind: Kind; readonly count: number; readonly items: readonly PlanItem[] }

/** A plan as its owner reads it. */
export type PlanDescription = {
  /** Events that lose their words. */
  readonly count: number
  /** What was named. */
  readonly named: readonly PlanGroup[]
  /** What was copied or learned from it, and goes with it. */
  readonly derived: readonly PlanGroup[]
  /** What speaks of it and keeps its words. */
  readonly stays: readonly PlanGroup[]
}

const ITEMS_A_GROUP = 20

/** Groups the events of a plan by kind, with the beginning of their words. */
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
