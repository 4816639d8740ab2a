import { setImmediate } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../ledger/reader.ts'
import {
  type CompactionRow,
  createContextQueries,
  type Forgotten,
  wasUseless,
} from '../../projections/context.ts'
import { createMemoryQueries } from '../../projections/memory-queries.ts'
import type { InputItem, ModelId } from '../model/port.ts'
import { SUMMARY_LABEL } from './capsule.ts'
import { type ContextItem, type ContextReader, createContextReader, isSameModel } from './context.ts'
import { createIsForeign } from './foreign.ts'

/** What a turn is built on: the base, then everything since but what the owner had forgotten. */
export type Chain = {
  readonly items: readonly ContextItem[]
  /** What the model is given of the items. One that stays is the same object until something is forgotten. */
  readonly input: readonly InputItem[]
  /** The facts of all items, in their order. */
  readonly seqs: readonly number[]
  /** The replacement that it begins with, and the facts that this covers; null while there is none. */
  readonly base: {
    readonly row: CompactionRow
    readonly form: 'opaque' | 'text'
    readonly covered: ReadonlySet<number>
  } | null
  /** Words of turns that have not ended: they join the chain only then. */
  readonly openSeqs: readonly number[]
  /** What was barred when this was read. */
  readonly barred: ReadonlySet<number>
}

export type ChainReader = {
  /**
   * The chain of a conversation as a model may have it: an opaque replacement only for the very model that made
   * it, its text for any other. `textOnly` is for a service that refused the opaque form. A long one that is folded anew,
   * after a start or an erasure, is folded piece by piece: the event loop belongs to the voice.
   */
  read(conversationId: string, model: ModelId, options?: { readonly textOnly?: boolean }): Promise<Chain>
  /** Whether any of the facts is barred from what stands in for them, because the owner had it forgotten. */
  holdsBarred(seqs: readonly number[]): boolean
  /** What the owner had forgotten after a chain was read: whoever was given that chain still knows it. */
  barredSince(chain: Pick<Chain, 'barred'>): readonly number[]
  /** Whether a capsule or a replacement tells what the owner had forgotten: it is to be erased, and may not be yet. */
  tellsBarred(seq: number): boolean
}

/** What stands in for the facts that it covers, in both forms. */
type Replacement = {
  readonly seq: number
  readonly covered: ReadonlySet<number>
  readonly opaque: InputItem | null
  readonly text: Extract<InputItem, { type: 'inner' }>
}

/** What stands after a replacement with that before it, as it was last asked for. */
type Headed = Pick<Chain, 'items' | 'input' | 'seqs'> & {
  readonly rest: readonly ContextItem[]
  readonly item: InputItem
}

const NO_BASE = { seq: 0, throughSeq: 0, covered: new Set<number>() }

/** Reads the chain that a conversation continues from; all of it derived from the ledger. */
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
  let looked: Forgotten = { barredCount: 0, erasureSeq: 0 }
  const judged = new Map<number, boolean>()
  let replacement: Replacement | null = null
  let headed: Headed | null = null

  /** Of more that is forgotten, or of what comes back: then what was folded, or judged, no longer holds. */
  function lookAtBarred(): void {
    const now = queries.forgotten()
    if (now.barredCount === looked.barredCount && now.erasureSeq === looked.erasureSeq) return
    looked = now
    barred = memory.forgottenSeqs()
    judged.clear()
    replacement = null
    headed = null
    context.reset()
  }

  /** One that was built on another tells what that told. */
  function tellsBarred(seq: number): boolean {
    const known = judged.get(seq)
    if (known !== undefined) return known
    const sources = new Set(barred.size === 0 ? [] : ledger.readSeqs([seq])[0]?.derivedFrom)
    const tells =
      [...barred].some((each) => sources.has(each)) ||
      (sources.size > 0 && queries.compactionSeqs(seq).some((each) => sources.has(each) && tellsBarred(each)))
    judged.set(seq, tells)
    return tells
  }

  /** The forms of a replacement, read once; null where its words are gone. */
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
    // An opaque form that turned out no smaller than the conversation itself is of no use; its text is.
    const isUsable = !textOnly && !wasUseless(row) && isSameModel(row, model)
    const shared = { covered, quotable: text.text }
    return opaque !== null && isUsable
      ? { item: opaque, form: 'opaque', ...shared }
      : { item: text, form: 'text', ...shared }
  }

  /** The chain as it is now; null while there is more to be folded than can be at once. */
  function readOn(conversationId: string, model: ModelId, textOnly: boolean): Chain | null {
    // What was folded before may hold words that are gone by now, or that the owner had forgotten since.
    lookAtBarred()
    const newest = queries.base(conversationId)
    const row =
      newest && tellsBarred(newest.seq)
        ? queries.bases(conversationId).find(({ seq }) => !tellsBarred(seq))
        : newest
    const base = row && baseItem(row, model, textOnly)
    const from = row && base ? { seq: row.seq, throughSeq: row.throughSeq, covered: base.covered } : NO_BASE
    const read = context.read(conversationId, from)
    if (read === null) return null
    const { items, input, seqs, open } = read
    const openSeqs = [...open.values()].flatMap((turn) => turn.flatMap(({ seqs }) => seqs))
    if (!row || !base) return { items, input, seqs, base: null, openSeqs, barred }
    const { item, form, covered } = base
    if (headed?.rest !== items || headed.item !== item) {
      headed = {
        rest: items,
        item,
        // Nobody looked at whose words a summary repeats.
        items: [{ item, seqs: [row.seq], quotable: base.quotable, foreign: true }, ...items],
        input: [item, ...input],
        seqs: [row.seq, ...seqs],
      }
    }
    return {
      items: headed.items,
      input: headed.input,
      seqs: headed.seqs,
      base: { row, form, covered },
      openSeqs,
      barred,
    }
  }

  return {
    async read(conversationId, model, { textOnly = false } = {}) {
      for (;;) {
        const chain = readOn(conversationId, model, textOnly)
        if (chain !== null) return chain
        await setImmediate()
      }
    },
    holdsBarred(seqs) {
      lookAtBarred()
      return seqs.some((seq) => barred.has(seq))
    },
    barredSince(chain) {
      lookAtBarred()
      return barred === chain.barred ? [] : [...barred].filter((seq) => !chain.barred.has(seq))
    },
    tellsBarred(seq) {
      lookAtBarred()
      return tellsBarred(seq)
    },
  }
}
