import { newSalt, toDraft } from '../codec.ts'
import { erasedFacts } from '../erasure.ts'
import type { NewEvent } from '../event.ts'
import type { FactsOf } from '../events/catalogue.ts'
import type { Ledger } from '../ledger.ts'
import { lostRow, UNKNOWN_HASH } from '../lost.ts'
import type { SeqRange } from '../reader.ts'
import type { Chain } from './chain.ts'
import type { Found } from './found.ts'
import { readPages } from './pages.ts'

/** What the pages say beside the events. */
export type Pages = {
  readonly meta: ReadonlyMap<string, string>
  /** The fact that erased an event. */
  readonly erasedBy: ReadonlyMap<number, number>
}

/** Missing events, and the times of the events around them; null at the beginning and the end. */
export type Missing = SeqRange & { readonly after: string | null; readonly before: string | null }

const ROWS_A_COMMIT = 1000
/** Limit of the schema in events/owner.ts. */
const GAPS_A_FACT = 500

/** Reads all pages of a ledger and adds the wanted events. Changes nothing but `scratch`, a new file. */
export function collectPages(
  file: string,
  scratch: string,
  add: (raw: Readonly<Record<string, unknown>>) => void,
): Pages {
  const meta = new Map<string, string>()
  const erasedBy = new Map<number, number>()
  for (const raw of readPages(file, scratch)) {
    if ('name' in raw) meta.set(String(raw.name), String(raw.value))
    // The table of erasures has only two columns.
    else if (typeof raw.id === 'number' && raw.type === null) erasedBy.set(Number(raw.seq), raw.id)
    else add(raw)
  }
  return { meta, erasedBy }
}

/**
 * Gives up events without a body that no fact erased. Returns the seqs of those whose erasure is lost, but for the
 * table of erasures.
 */
export function settleErasures(found: Found, chain: Chain, erasedBy: ReadonlyMap<number, number>): number[] {
  const named = new Set<unknown>()
  const withoutBody: number[] = []
  for (let seq = 1; seq <= chain.last(); seq += 1) {
    const row = rowAt(found, chain, seq)
    if (row?.type === 'erased') for (const each of JSON.parse(row.facts).seqs) named.add(each)
    if (row && row.body === null && row.bodyDigest !== null) withoutBody.push(seq)
  }
  const isLostErasure = (seq: number) => {
    const by = erasedBy.get(seq) ?? 0
    return by > seq && chain.ref(by) === undefined && chain.ref(seq) !== undefined && !named.has(seq)
  }
  for (const seq of withoutBody) if (!named.has(seq) && !isLostErasure(seq)) chain.lose(seq)
  return [...erasedBy.keys()].filter(isLostErasure)
}

/** Writes the chosen events into an empty ledger, with a row for each missing one, and the facts about it. */
export function writeSalvaged(
  ledger: Ledger,
  found: Found,
  chain: Chain,
  parts: {
    readonly filled: number
    readonly sources: FactsOf<'ledger.salvaged'>['sources']
    readonly eraseAgain: readonly number[]
    readonly newId: () => string
    readonly at: string
  },
): Missing[] {
  const gaps = chain.gaps()
  let lastAt = new Date(0).toISOString()
  for (let from = 1; from <= chain.last(); from += ROWS_A_COMMIT) {
    const count = Math.min(ROWS_A_COMMIT, chain.last() - from + 1)
    ledger.importRows(
      Array.from({ length: count }, (_, index) => {
        const row = rowAt(found, chain, from + index)
        lastAt = row?.at ?? lastAt
        return row ?? lostRow(from + index, lastAt, chain.hashOf(from + index) ?? UNKNOWN_HASH)
      }),
    )
  }
  const { filled, sources, eraseAgain, newId, at } = parts
  const by = { actor: 'service', channel: 'system' } as const
  const facts: NewEvent[] = []
  for (let from = 0; from === 0 || from < gaps.length; from += GAPS_A_FACT) {
    const part = gaps.slice(from, from + GAPS_A_FACT).map(({ firstSeq, lastSeq, before }) => ({
      firstSeq,
      lastSeq,
      hashBefore: before.hash,
    }))
    facts.push({ type: 'ledger.salvaged', ...by, facts: { gaps: part, filled, sources: [...sources] } })
  }
  facts.push(...erasedFacts(eraseAgain, 'owner', { actor: 'service' }))
  const [outcome] = ledger.commit([facts.map((fact) => toDraft(fact, { newId, newSalt, at }))])
  if (outcome?.status === 'rejected') throw outcome.error
  const timeOf = (seq: number) => rowAt(found, chain, seq)?.at ?? null
  return gaps.map(({ firstSeq, lastSeq }) => ({
    firstSeq,
    lastSeq,
    after: timeOf(firstSeq - 1),
    before: timeOf(lastSeq + 1),
  }))
}

function rowAt(found: Found, chain: Chain, seq: number) {
  const ref = chain.ref(seq)
  return ref === undefined ? null : found.row(ref)
}
