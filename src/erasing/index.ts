import type { Kysely } from 'kysely'
import { createErasureQueries } from '../../projections/erasures.ts'
import type { ViewsTables } from '../../projections/tables.ts'
import type { ActingContext } from '../model/tool.ts'
import type { OfflineCopies } from '../settings/offline-copies.ts'
import type { FunctionThread } from '../storage/function-thread.ts'
import type { Storage } from '../storage/storage.ts'
import { requestedParts, saidOf } from './erasure-facts.ts'
import { type BackupsHolding, createErasures } from './erasures.ts'
import { wordsOfTexts } from './plan.ts'
import type { PlanDescription, PlanGroup } from './plan-text.ts'
import type { queryFunctions } from './query-functions.ts'
import { createSameMessages } from './same-messages.ts'
import { type Chosen, createTargets, type Forgettable } from './targets.ts'

/** The functions of erasing in the query thread. */
export const erasingQueries = new URL('./query-functions.ts', import.meta.url)
export type ErasingQueryFunctions = typeof queryFunctions

/** Everything that states chosen memories and messages. */
type Statements = {
  readonly versions: readonly { readonly memoryId: string; readonly storedSeq: number }[]
  readonly messageSeqs: readonly number[]
  /** Texts of the versions and the messages, to recognise quotations. */
  readonly texts: readonly string[]
  /** The owner's messages that state it. */
  readonly saidSeqs: readonly number[]
  /** `saidSeqs`, and replies that repeat it. */
  readonly barredSeqs: readonly number[]
}

/** What erasing needs of memory. */
type Memory = {
  readonly forgettable: (chosen: Chosen) => Promise<Statements | null>
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
  readonly importedSeqs: (kind: 'import' | 'imported', id: string) => readonly number[]
  readonly removeAdaptationFiles: (seqs: readonly number[]) => Promise<void>
  readonly copiesFrom: OfflineCopies['from']
  readonly backupsHolding: BackupsHolding
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}) {
  const { storage, queries, memory } = options
  const erasureQueries = createErasureQueries(storage.views)
  const sameMessages = createSameMessages(storage)

  const erasures = createErasures({
    ...options,
    targets: createTargets({
      ...options,
      ledger: storage.ledger,
      async forgettable(chosen, askedSeq) {
        const found = await memory.forgettable(chosen)
        return found && toForgettable(found, askedSeq)
      },
      leftBy(id) {
        const row = erasureQueries.byId(id)
        return row ? saidOf(requestedParts(row, storage.wholeLedger), storage.ledger) : []
      },
      copiesOf: (seq) => [...erasureQueries.copiesOf(seq), ...sameMessages(seq)],
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
      chosen: Chosen,
      askedSeq: number | null,
      { messageSeq, channel, conversationId, spanId, turnId }: ActingContext,
    ) {
      const causedBy = messageSeq ?? undefined
      const origin = { askedSeq, causedBy, channel, conversationId, spanId, turnId }
      const [memoryId, ...others] = chosen.memoryIds
      const isOne = memoryId !== undefined && others.length + chosen.messageSeqs.length === 0
      const requested = await erasures.request(
        isOne ? { kind: 'memory', id: memoryId } : { kind: 'words', ...chosen },
        origin,
      )
      if (!('erasure' in requested)) return requested
      const { erasure, plan } = requested
      const undoSeconds = Math.round((Date.parse(erasure.eraseAt) - Date.parse(erasure.requestedAt)) / 1000)
      return { erasure: { undoSeconds, ...extentOf(plan) } }
    },
    async undo() {
      const plan = await erasures.undoLast()
      return plan && extentOf(plan)
    },
  }
  return { erasures, forgetting }
}

/** What an erasure covers, in words, and the events that these quote. */
function extentOf({ named, derived, stays }: PlanDescription) {
  const goes = [...named, ...derived]
  return {
    goes: goes.map(wordsOfGroup),
    stays: stays.map(wordsOfGroup),
    seqs: [...goes, ...stays].flatMap(({ items }) => items.map(({ seq }) => seq)),
  }
}

/** The request names what should be forgotten, so it is barred as well. */
function toForgettable(found: Statements, askedSeq: number | null): Forgettable {
  const words = wordsOfTexts(found.texts)
  const asked = askedSeq === null ? [] : [askedSeq]
  return {
    memoryIds: found.versions.map(({ memoryId }) => memoryId),
    messageSeqs: found.messageSeqs,
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
