import { setImmediate } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../../ledger/reader.ts'
import {
  type CompactionRow,
  createContextQueries,
  type Forgotten,
  wasUseless,
} from '../../../projections/context.ts'
import { createMemoryQueries } from '../../../projections/memory-queries.ts'
import { createTurnQueries } from '../../../projections/turns.ts'
import { type InputItem, isSameModel, type ModelId } from '../../model/port.ts'
import { createIsForeign } from '../turn/foreign.ts'
import { SUMMARY_LABEL } from './capsule.ts'
import { type ContextItem, createContextReader } from './context.ts'

/** What the next turn continues from: the base and everything since, without barred words and replaced turns. */
export type Chain = {
  /** Unchanged items keep their identity until something is forgotten. */
  readonly items: readonly ContextItem[]
  /** The replacement at the start and the seqs that it covers; null if there is none. */
  readonly base: {
    readonly row: CompactionRow
    readonly form: 'opaque' | 'text'
    readonly covered: ReadonlySet<number>
  } | null
  /** Seqs of unfinished turns, which join the chain when they end. */
  readonly openSeqs: readonly number[]
  readonly barred: ReadonlySet<number>
}

export type ChainReader = ReturnType<typeof createChainReader>

const NO_BASE = { seq: 0, throughSeq: 0, covered: new Set<number>() }

/** Reads the chain of a conversation from the ledger. */
export function createChainReader(views: Database, ledger: LedgerReader) {
  const queries = createContextQueries(views)
  const memory = createMemoryQueries(views)
  const turns = createTurnQueries(views)
  let barred: ReadonlySet<number> = new Set()
  let replacedTurns: ReadonlySet<string> = new Set()
  const context = createContextReader(
    views,
    ledger,
    ({ seq, derivedFrom, turnId }) =>
      barred.has(seq) ||
      derivedFrom.some((source) => barred.has(source)) ||
      (turnId !== null && replacedTurns.has(turnId)),
    createIsForeign(ledger),
  )
  let forgotten: Forgotten = { barredCount: 0, erasureSeq: 0 }
  const verdicts = new Map<number, boolean>()

  /** Drops every cache when something was forgotten, replaced or restored. */
  function refreshBarred(): void {
    const now = queries.forgotten()
    if (now.barredCount === forgotten.barredCount && now.erasureSeq === forgotten.erasureSeq) return
    forgotten = now
    barred = memory.forgottenSeqs()
    // Whatever is replaced is barred as well, so both change together.
    replacedTurns = turns.replaced()
    verdicts.clear()
    context.reset()
  }

  /** A replacement built on another one contains its words too. */
  function derivesFromBarred(seq: number): boolean {
    const known = verdicts.get(seq)
    if (known !== undefined) return known
    const sources = new Set(barred.size === 0 ? [] : ledger.readSeqs([seq])[0]?.derivedFrom)
    const isTelling =
      [...barred].some((each) => sources.has(each)) ||
      (sources.size > 0 &&
        queries.compactionSeqs(seq).some((each) => sources.has(each) && derivesFromBarred(each)))
    verdicts.set(seq, isTelling)
    return isTelling
  }

  /** The replacement as an item, in the form that the model accepts; null if its body was erased. */
  function readBase(row: CompactionRow, model: ModelId, textOnly: boolean) {
    const { seq, provider } = row
    const [event] = ledger.readSeqs([seq])
    if (event?.type !== 'context.compaction.succeeded' || !event.body) return null
    const { replacement: blob, text } = event.body
    // An opaque form that is no smaller than the conversation is useless; the text may still be smaller.
    const isOpaque = blob !== null && !textOnly && !wasUseless(row) && isSameModel(row, model)
    const item: InputItem = isOpaque
      ? { type: 'opaque', model: { provider, model: row.model }, blob }
      : { type: 'inner', label: SUMMARY_LABEL, text }
    return {
      row,
      form: isOpaque ? ('opaque' as const) : ('text' as const),
      covered: new Set(event.derivedFrom),
      item: { item, seqs: [seq], quotable: text, foreign: event.facts.foreign !== false },
    }
  }

  /** The current chain; null if more events remain to be folded than one slice allows. */
  function readSlice(conversationId: string, model: ModelId, textOnly: boolean): Chain | null {
    refreshBarred()
    const newest = queries.base(conversationId)
    const row =
      newest && derivesFromBarred(newest.seq)
        ? queries.bases(conversationId).find(({ seq }) => !derivesFromBarred(seq))
        : newest
    const base = row ? readBase(row, model, textOnly) : null
    const from = base ? { ...base.row, covered: base.covered } : NO_BASE
    const read = context.read(conversationId, from)
    if (read === null) return null
    const openSeqs = [...read.open.values()].flatMap((turn) => turn.flatMap(({ seqs }) => seqs))
    const items = [...(base ? [base.item] : []), ...read.items, ...read.failed.flat()]
    return { items, base, openSeqs, barred }
  }

  return {
    /**
     * Folds a long chain in slices, so that the event loop stays free for voice. Only the model that made an
     * opaque replacement gets it; any other model, or `textOnly`, gets its text.
     */
    async read(
      conversationId: string,
      model: ModelId,
      { textOnly = false }: { readonly textOnly?: boolean } = {},
    ): Promise<Chain> {
      for (;;) {
        const chain = readSlice(conversationId, model, textOnly)
        if (chain !== null) return chain
        await setImmediate()
      }
    },
    /** Whether any of the facts is barred, so that nothing may stand in for them. */
    holdsBarred(seqs: readonly number[]): boolean {
      refreshBarred()
      return seqs.some((seq) => barred.has(seq))
    },
    /** The seqs barred since the chain was read. A model that was given the chain still knows them. */
    barredSince(chain: Pick<Chain, 'barred'>): readonly number[] {
      refreshBarred()
      return barred === chain.barred ? [] : [...barred].filter((seq) => !chain.barred.has(seq))
    },
    /** Whether a capsule or a replacement derives from barred words. It will be erased but may not be yet. */
    derivesFromBarred(seq: number): boolean {
      refreshBarred()
      return derivesFromBarred(seq)
    },
  }
}
