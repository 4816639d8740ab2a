import type { NewEvent } from '../../ledger/event.ts'
import { createReadingQueries, type ReadingRow } from '../../projections/import-readings.ts'
import type { ImportedPartRow, ImportQueries } from '../../projections/imports.ts'
import { createReactor } from '../lib/reactor.ts'
import { AllowanceSpent, ModelError, type ModelId, type Usage } from '../model/port.ts'
import type { Storage } from '../storage/storage.ts'

export type ImportedText = {
  readonly speaker: 'owner' | 'assistant'
  readonly at: string
  readonly text: string
}

type Progressed = Extract<NewEvent, { type: 'import.reading.progressed' }>
type Words = Progressed['body']['words'][number]
type Found = Progressed['facts']['candidates'][number] & { readonly words: Words }

/** What imports need of memory. */
export type Learning = {
  /** The model that reads; null for rules, which are free. */
  readonly model: () => ModelId | null
  readonly overheadTokens: () => number
  readonly read: (
    texts: readonly ImportedText[],
    partSeq: number,
    signal: AbortSignal,
  ) => Promise<{
    readonly candidates: readonly Found[]
    readonly method: 'model' | 'rules'
    readonly usage: Usage | null
  }>
  readonly keep: (
    chosen: readonly (Found & { readonly partSeq: number })[],
    decision: readonly NewEvent[],
  ) => Promise<void>
}

/** Whole imports and single conversations. */
export type Selection = { readonly importId: string } | { readonly ids: readonly string[] }

export type Candidate = {
  /** `<seq>.<index>` */
  readonly id: string
  readonly text: string
  readonly kind: string
  readonly quote: string
  readonly saidAt: string
  /** The conversation that it comes from. */
  readonly importedId: string
}

/** Failures of which a repetition would be another one: the part is left out. */
const WRONG: ReadonlySet<string> = new Set(['malformed', 'refused', 'context_too_long'])
const SEQS_A_FACT = 500
/** Bytes of text for a token; the answer to one request. */
const BYTES_A_TOKEN = 3.6
const ANSWER_TOKENS = 400
/** What surrounds each message of a request. */
const MESSAGE_TOKENS = 20

const BY_OWNER = { actor: 'owner', channel: 'system' } as const
const BY_SERVICE = { actor: 'service', channel: 'system' } as const

/** Reads imported conversations for memories, only when the owner asks for it, and one part after the other. */
export function createReadings(options: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'views' | 'onHeadMoved'>
  readonly imports: ImportQueries
  readonly learning: Learning
  /** What the model costs, in millionths of a dollar. */
  readonly priceOf: (model: ModelId, usage: Usage) => number
  readonly mayLearn: () => boolean
  readonly isAnswering: () => boolean
  readonly isHalted: () => boolean
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}) {
  const { imports, learning } = options
  const { append, ledger, views, onHeadMoved } = options.storage
  const queries = createReadingQueries(views)

  const reactor = createReactor<ReadingRow & { readonly partSeq: number | undefined }>({
    onHeadMoved,
    areas: ['import', 'allowance', 'delegation', 'turn', 'erased', 'settings'],
    next() {
      const running = queries.running()
      if (!running || !mayRead()) return undefined
      return { ...running, partSeq: queries.unread(running.readingId) }
    },
    stepOf: ({ readingId, partSeq }) => [readingId, partSeq],
    run: ({ readingId, partSeq }, signal) =>
      partSeq === undefined ? end(readingId, 'completed') : read(readingId, partSeq, signal),
    onFault: options.onFault,
  })

  function mayRead(): boolean {
    if (options.isHalted() || options.isAnswering()) return false
    return learning.model() === null || options.mayLearn()
  }

  async function read(readingId: string, partSeq: number, signal: AbortSignal): Promise<unknown> {
    const [event] = ledger.readSeqs([partSeq])
    const texts = event?.type === 'import.conversation.added' ? (event.body?.messages ?? []) : []
    const method = learning.model() === null ? 'rules' : 'model'
    try {
      const found = texts.length === 0 ? NOTHING : await learning.read(texts, partSeq, signal)
      // It may have been cancelled, or erased, while the model was reading.
      if (queries.unread(readingId) !== partSeq) return undefined
      const candidates = imports.partAt(partSeq)?.erased === 0 ? found.candidates : []
      await append([progressed(readingId, partSeq, { method, candidates, usage: found.usage })])
    } catch (error) {
      if (error instanceof AllowanceSpent) return 'held'
      if (!(error instanceof ModelError && WRONG.has(error.kind))) throw error
      await append([
        progressed(readingId, partSeq, { method, candidates: [], usage: null, failure: error.kind }),
      ])
    }
    return undefined
  }

  function end(readingId: string, reason: 'completed' | 'cancelled') {
    const by = reason === 'completed' ? BY_SERVICE : BY_OWNER
    const key = `import-reading-ended:${readingId}`
    return append([{ type: 'import.reading.ended', ...by, key, facts: { readingId, reason } }])
  }

  /** Those with words of the owner. */
  function partsOf(selection: Selection): ImportedPartRow[] {
    const parts =
      'importId' in selection
        ? imports.partsOf(selection.importId)
        : [...new Set(selection.ids)].flatMap(imports.parts).filter(({ erased }) => erased === 0)
    return parts.filter(({ ownerMessages }) => ownerMessages > 0)
  }

  function candidateAt(seq: number, index: number): (Found & { partSeq: number }) | undefined {
    const [event] = ledger.readSeqs([seq])
    if (event?.type !== 'import.reading.progressed') return undefined
    const facts = event.facts.candidates[index]
    const words = event.body?.words[index]
    return facts && words && { ...facts, words, partSeq: event.facts.partSeq }
  }

  return {
    start: reactor.start,
    close: () => reactor.close(0),
    /** What reading would cost, before it is asked for. */
    estimate(selection: Selection) {
      const parts = partsOf(selection)
      const sum = (of: (part: ImportedPartRow) => number) =>
        parts.reduce((total, part) => total + of(part), 0)
      const model = learning.model()
      const inputTokens =
        model === null
          ? 0
          : Math.ceil(sum(({ bytes }) => bytes) / BYTES_A_TOKEN) +
            parts.length * learning.overheadTokens() +
            sum(({ messages }) => messages) * MESSAGE_TOKENS
      const outputTokens = model === null ? 0 : parts.length * ANSWER_TOKENS
      const usage = { inputTokens, outputTokens, cachedTokens: 0 }
      return {
        conversations: new Set(parts.map(({ id }) => id)).size,
        requests: parts.length,
        messages: sum(({ ownerMessages }) => ownerMessages),
        method: model === null ? ('rules' as const) : ('model' as const),
        model: model?.model ?? null,
        inputTokens,
        outputTokens,
        costMicros: model === null ? 0 : options.priceOf(model, usage),
      }
    },
    /** Begins to read. Null if there is nothing to read. */
    async request(selection: Selection): Promise<ReadingRow | null> {
      const seqs = partsOf(selection).map(({ seq }) => seq)
      if (seqs.length === 0) return null
      const readingId = options.newId()
      const parts = Math.ceil(seqs.length / SEQS_A_FACT)
      await append(
        Array.from(
          { length: parts },
          (_, part): NewEvent => ({
            type: 'import.reading.requested',
            ...BY_OWNER,
            facts: {
              readingId,
              partSeqs: seqs.slice(part * SEQS_A_FACT, (part + 1) * SEQS_A_FACT),
              part,
              parts,
            },
          }),
        ),
      )
      return queries.byId(readingId) ?? null
    },
    readings: (limit: number) => queries.newest(limit),
    /** Stops reading; candidates stay. False if it is over. */
    async cancel(readingId: string): Promise<boolean> {
      if (queries.byId(readingId)?.status !== 'running') return false
      return (await end(readingId, 'cancelled')).status === 'appended'
    },
    candidateCount: queries.candidateCount,
    candidates(after: { readonly seq: number; readonly index: number }, limit: number): Candidate[] {
      return queries.candidates(after, limit).flatMap(({ seq, candidate: index }) => {
        const found = candidateAt(seq, index)
        const part = found && imports.partAt(found.partSeq)
        if (!found || !part) return []
        const { kind, saidAt, words } = found
        return [
          { id: `${seq}.${index}`, kind, saidAt, text: words.text, quote: words.quote, importedId: part.id },
        ]
      })
    },
    /** Makes memories of candidates, or drops them. Resolves to how many there were. */
    async decide(
      ids: readonly { readonly seq: number; readonly index: number }[],
      kept: boolean,
    ): Promise<number> {
      const open = ids.filter(({ seq, index }) => queries.same(seq, index).length > 0)
      const decided = open.flatMap(({ seq, index }) => queries.same(seq, index))
      if (decided.length === 0) return 0
      const decisions = Array.from(
        { length: Math.ceil(decided.length / SEQS_A_FACT) },
        (_, part): NewEvent => ({
          type: 'import.candidates.decided',
          ...BY_OWNER,
          facts: {
            candidates: decided
              .slice(part * SEQS_A_FACT, (part + 1) * SEQS_A_FACT)
              .map(({ seq, candidate: index }) => ({ seq, index })),
            kept,
          },
        }),
      )
      const chosen = open.flatMap(({ seq, index }) => candidateAt(seq, index) ?? [])
      await learning.keep(kept ? chosen : [], decisions)
      return open.length
    },
  }
}

export type Readings = ReturnType<typeof createReadings>

const NOTHING = { candidates: [], usage: null }

function progressed(
  readingId: string,
  partSeq: number,
  found: {
    readonly method: 'model' | 'rules'
    readonly candidates: readonly Found[]
    readonly usage: Usage | null
    readonly failure?: string
  },
): NewEvent {
  const { method, candidates, usage, failure } = found
  return {
    type: 'import.reading.progressed',
    ...BY_SERVICE,
    key: `import-read:${readingId}:${partSeq}`,
    derivedFrom: [partSeq],
    facts: {
      ...{ readingId, partSeq, method },
      candidates: candidates.map(({ words: _, ...facts }) => facts),
      usage: usage && { ...usage },
      ...(failure !== undefined && { failure }),
    },
    body: { words: candidates.map(({ words }) => words) },
  }
}
