import type { Kysely } from 'kysely'
import { createErasureQueries } from '../../projections/erasures.ts'
import type { ViewsTables } from '../../projections/tables.ts'
import type { ActingContext } from '../model/tool.ts'
import type { FunctionThread } from '../storage/function-thread.ts'
import type { Storage } from '../storage/storage.ts'
import { createErasures } from './erasures.ts'
import { wordsOfTexts } from './plan.ts'
import type { PlanGroup } from './plan-text.ts'
import type { queryFunctions } from './query-functions.ts'
import { createTargets, type ErasureTarget, type Forgettable } from './targets.ts'

/** The functions of erasing in the query thread. */
export const erasingQueries = new URL('./query-functions.ts', import.meta.url)
export type ErasingQueryFunctions = typeof queryFunctions

/** Words in more messages than this are common speech, and barring them all would hide too much. */
const MAX_BARRED = 20

/** Everything that states a memory, or that contains words. */
type Statements = {
  readonly versions: readonly { readonly memoryId: string; readonly storedSeq: number }[]
  /** Texts of the versions, to recognise quotations. */
  readonly texts: readonly string[]
  /** The owner's messages that state it. */
  readonly saidSeqs: readonly number[]
  /** `saidSeqs`, and replies that contain all the words. */
  readonly barredSeqs: readonly number[]
}

/** What erasing needs of memory. */
type Memory = {
  readonly forgettable: {
    memory(memoryId: string): Promise<Statements | null>
    words(words: readonly string[]): Promise<Statements>
  }
  /** Runs work while learning is paused. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>
}

/** Wires erasing: planning, hiding, erasing, undoing, and the tools that forget. */
export function buildErasing(options: {
  readonly storage: Storage
  readonly queries: FunctionThread<ErasingQueryFunctions>
  readonly kysely: Kysely<ViewsTables>
  readonly memory: Memory
  readonly forgetVectors: (seqs: readonly number[]) => Promise<void>
  readonly spanSeqs: (spanId: string) => readonly number[]
  readonly adaptationSeqs: (id: string) => readonly number[]
  readonly removeAdaptationFiles: (seqs: readonly number[]) => Promise<void>
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}) {
  const { storage, queries, memory } = options

  const erasures = createErasures({
    ...options,
    targets: createTargets({
      ...options,
      ledger: storage.ledger,
      memory: async (id, askedSeq) => {
        const found = await memory.forgettable.memory(id)
        return found && toForgettable(found, askedSeq)
      },
      async words(words, askedSeq) {
        const found = await memory.forgettable.words(words)
        const said = found.saidSeqs.filter((seq) => seq !== askedSeq)
        if (said.length > MAX_BARRED) return { status: 'too_much', limit: MAX_BARRED }
        return said.length === 0 ? { status: 'unknown' } : { status: 'ok', ...toForgettable(found, askedSeq) }
      },
      copiesOf: createErasureQueries(storage.views).copiesOf,
    }),
    planFrom: (roots) => queries.ask('planErasure', roots),
    async erase(seqs, reason) {
      try {
        return await storage.erase(seqs, reason)
      } finally {
        // Even if the files could not be cleared yet: whatever is recorded as erased is cleared later.
        await options.forgetVectors(seqs)
      }
    },
    exclusively: memory.exclusively,
  })

  const forgetting = {
    async forget(
      target: ErasureTarget,
      { messageSeq, channel, conversationId, spanId, turnId }: ActingContext,
    ) {
      const origin = { askedSeq: messageSeq, channel, conversationId, spanId, turnId }
      const requested = await erasures.request(target, origin)
      if (!('erasure' in requested)) return requested.status === 'too_much' ? 'too_common' : 'nothing'
      const { erasure, plan } = requested
      const goes = [...plan.named, ...plan.derived]
      return {
        undoSeconds: Math.round((Date.parse(erasure.eraseAt) - Date.parse(erasure.requestedAt)) / 1000),
        goes: goes.map(wordsOfGroup),
        stays: plan.stays.map(wordsOfGroup),
        seqs: [...goes, ...plan.stays].flatMap(({ items }) => items.map(({ seq }) => seq)),
      }
    },
    undo: erasures.undoLast,
  }
  return { erasures, forgetting }
}

/** The request names what should be forgotten, so it is barred as well. */
function toForgettable(found: Statements, askedSeq: number | null): Forgettable {
  const words = wordsOfTexts(found.texts)
  const asked = askedSeq === null ? [] : [askedSeq]
  return {
    memoryIds: found.versions.map(({ memoryId }) => memoryId),
    roots: [
      ...found.versions.map(({ storedSeq }) => ({ seq: storedSeq, words, stays: false })),
      ...[...new Set([...found.saidSeqs, ...asked])].map((seq) => ({ seq, words, stays: true })),
    ],
    barredSeqs: [...new Set([...found.barredSeqs, ...asked])].sort((a, b) => a - b),
  }
}

/** Quotes a reply as it will read afterwards, so that the plan does not repeat erased words. */
function wordsOfGroup({ kind, count, items }: PlanGroup) {
  return { kind, count, items: items.map(({ text, after }) => after ?? text) }
}
