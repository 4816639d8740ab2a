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
import type { InputItem, ModelId } from '../../model/port.ts'
import { createIsForeign } from '../turn/foreign.ts'
import { SUMMARY_LABEL } from './capsule.ts'
import { type ContextItem, type ContextReader, createContextReader, isSameModel } from './context.ts'

/** What the next turn continues from: the base and everything since, without barred words. */
export type Chain = {
  readonly items: readonly ContextItem[]
  /** The input for the model. Unchanged items keep their identity until something is forgotten. */
  readonly input: readonly InputItem[]
  readonly seqs: readonly number[]
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

export type ChainReader = {
  /**
   * Folds a long chain in slices, so that the event loop stays free for voice. Only the model that made an
   * opaque replacement gets it; any other model, or `textOnly`, gets its text.
   */
  read(conversationId: string, model: ModelId, options?: { readonly textOnly?: boolean }): Promise<Chain>
  /** Whether any of the facts is barred, so that nothing may stand in for them. */
  holdsBarred(seqs: readonly number[]): boolean
  /** The seqs barred since the chain was read. A model that was given the chain still knows them. */
  barredSince(chain: Pick<Chain, 'barred'>): readonly number[]
  /** Whether a capsule or a replacement derives from barred words. It will be erased but may not be yet. */
  derivesFromBarred(seq: number): boolean
}

type Replacement = {
  readonly seq: number
  readonly covered: ReadonlySet<number>
  readonly opaque: InputItem | null
  readonly text: Extract<InputItem, { type: 'inner' }>
}

/** The last chain built on a replacement, cached for reuse. */
type WithBase = Pick<Chain, 'items' | 'input' | 'seqs'> & {
  readonly rest: readonly ContextItem[]
  readonly item: InputItem
}

const NO_BASE = { seq: 0, throughSeq: 0, covered: new Set<number>() }

/** Reads the chain of a conversation from the ledger. */
export function createChainReader(views: Database, ledger: LedgerReader): ChainReader {
  const queries = createContextQueries(views)
  const memory = createMemoryQueries(views)
  let barred: ReadonlySet<number> = new Set()
  const context: ContextReader = createContextReader(
    views,
    ledger,
    ({ seq, derivedFrom }) => barred.has(seq) || derivedFrom.some((source) => barred.has(source)),
    createIsForeign(ledger),
  )
  let forgotten: Forgotten = { barredCount: 0, erasureSeq: 0 }
  const verdicts = new Map<number, boolean>()
  let replacement: Replacement | null = null
  let lastWithBase: WithBase | null = null

  /** Drops every cache when something was forgotten or restored. */
  function refreshBarred(): void {
    const now = queries.forgotten()
    if (now.barredCount === forgotten.barredCount && now.erasureSeq === forgotten.erasureSeq) return
    forgotten = now
    barred = memory.forgottenSeqs()
    verdicts.clear()
    replacement = null
    lastWithBase = null
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

  /** Null if its body was erased. */
  function readReplacement({ seq, provider, model }: CompactionRow): Replacement | null {
    if (replacement?.seq === seq) return replacement
    const [event] = ledger.readSeqs([seq])
    if (event?.type !== 'context.compaction.succeeded' || !event.body) return null
    const { replacement: blob, text } = event.body
    replacement = {
      seq,
      covered: new Set(event.derivedFrom),
      opaque: blob === null ? null : { type: 'opaque', model: { provider, model }, blob },
      text: { type: 'inner', label: SUMMARY_LABEL, text },
    }
    return replacement
  }

  function baseItem(
    row: CompactionRow,
    model: ModelId,
    textOnly: boolean,
  ): { item: InputItem; form: 'opaque' | 'text'; covered: ReadonlySet<number>; quotable: string } | null {
    const read = readReplacement(row)
    if (read === null) return null
    const { covered, opaque, text } = read
    // An opaque form that is no smaller than the conversation is useless; the text may still be smaller.
    const isUsable = !textOnly && !wasUseless(row) && isSameModel(row, model)
    const shared = { covered, quotable: text.text }
    return opaque !== null && isUsable
      ? { item: opaque, form: 'opaque', ...shared }
      : { item: text, form: 'text', ...shared }
  }

  /** The current chain; null if more events remain to be folded than one slice allows. */
  function readSlice(conversationId: string, model: ModelId, textOnly: boolean): Chain | null {
    refreshBarred()
    const newest = queries.base(conversationId)
    const row =
      newest && derivesFromBarred(newest.seq)
        ? queries.bases(conversationId).find(({ seq }) => !derivesFromBarred(seq))
        : newest
    const base = row && baseItem(row, model, textOnly)
    const from = row && base ? { seq: row.seq, throughSeq: row.throughSeq, covered: base.covered } : NO_BASE
    const read = context.read(conversationId, from)
    if (read === null) return null
    const { items, input, seqs, open } = read
    const openSeqs = [...open.values()].flatMap((turn) => turn.flatMap(({ seqs }) => seqs))
    if (!row || !base) return { items, input, seqs, base: null, openSeqs, barred }
    const { item, form, covered } = base
    if (lastWithBase?.rest !== items || lastWithBase.item !== item) {
      lastWithBase = {
        rest: items,
        item,
        // The words in a summary may come from anyone.
        items: [{ item, seqs: [row.seq], quotable: base.quotable, foreign: true }, ...items],
        input: [item, ...input],
        seqs: [row.seq, ...seqs],
      }
    }
    return {
      items: lastWithBase.items,
      input: lastWithBase.input,
      seqs: lastWithBase.seqs,
      base: { row, form, covered },
      openSeqs,
      barred,
    }
  }

  return {
    async read(conversationId, model, { textOnly = false } = {}) {
      for (;;) {
        const chain = readSlice(conversationId, model, textOnly)
        if (chain !== null) return chain
        await setImmediate()
      }
    },
    holdsBarred(seqs) {
      refreshBarred()
      return seqs.some((seq) => barred.has(seq))
    },
    barredSince(chain) {
      refreshBarred()
      return barred === chain.barred ? [] : [...barred].filter((seq) => !chain.barred.has(seq))
    },
    derivesFromBarred(seq) {
      refreshBarred()
      return derivesFromBarred(seq)
    },
  }
}
