import type { Database } from 'better-sqlite3'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Append, EventOf, NewEvent } from '../../../ledger/event.ts'
import { createContextQueries, wasUseless } from '../../../projections/context.ts'
import { leftOfWait } from '../../lib/waits.ts'
import {
  addUsage,
  CapabilityMissing,
  type InputItem,
  ModelError,
  type ModelService,
  NO_USAGE,
  type Usage,
} from '../../model/port.ts'
import { estimateItemTokens, estimateTokens } from '../../model/tokens.ts'
import { type Capsule, type Commitment, writeCapsule } from './capsule.ts'
import type { Chain, ChainReader } from './chain.ts'
import type { ContextItem } from './context.ts'

export type CompactionSource = 'manual' | 'automatic'
export type CompactionFailureKind = EventOf<'context.compaction.failed'>['facts']['kind']
type CapsuleFailureKind = EventOf<'context.capsule.failed'>['facts']['kind']
export type CompactionOutcome =
  | { readonly status: 'succeeded' }
  | { readonly status: 'failed'; readonly kind: CompactionFailureKind }

export type Compactor = {
  /** Replaces the chain, or records why it could not. Rejects only if the ledger is unavailable. */
  compact(conversationId: string, source: CompactionSource, signal: AbortSignal): Promise<CompactionOutcome>
  /** Records a manual attempt made while a turn was running. */
  refuseBusy(conversationId: string): Promise<void>
  /** Whether the chain is too long or lost its base to an erasure, and the breaker allows an attempt. */
  isDue(conversationId: string): boolean
  /** Writes a new capsule once enough tokens were added since the last attempt. */
  refreshCapsule(conversationId: string, signal: AbortSignal): Promise<void>
  /** Records compactions that a crash interrupted as failed. */
  recover(): Promise<void>
}

/** After this many consecutive failures, automatic compaction pauses; the pause doubles each time. */
const BREAKER_FAILURES = 3
const BREAKER_PAUSE_MS = 15 * 60_000
const BREAKER_MAX_PAUSE_MS = 24 * 60 * 60_000
/** Replacements per automatic compaction. The rest waits for the end of the next turn. */
const MAX_ROUNDS = 8
/** Share of the threshold for one request. The rest leaves room for the answer and for low estimates. */
const CHUNK_SHARE = 0.8
/** A replacement larger than this share of the original is rejected. */
const MAX_RATIO_AFTER = 0.9

/** Compacts the chain and writes capsules: the model writes a replacement, which is checked and recorded. */
export function createCompactor(options: {
  readonly append: Append
  readonly views: Database
  readonly chain: ChainReader
  readonly model: () => ModelService
  readonly instructions: () => string
  /** Facts that the instructions quote. */
  readonly instructionSeqs: () => readonly number[]
  readonly commitments: () => readonly Commitment[]
  readonly thresholdTokens: () => number
  readonly capsuleTriggerTokens: () => number
  readonly timezone: () => string
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: { warn(fields: object, message: string): void }
}): Compactor {
  const { append, views, chain, newId, nowMs, log } = options
  const queries = createContextQueries(views)

  async function compactOnce(
    conversationId: string,
    source: CompactionSource,
    signal: AbortSignal,
  ): Promise<CompactionOutcome & { readonly more: boolean }> {
    const service = options.model()
    const read = await chain.read(conversationId, service.text.id)
    const part = partToCompact(read, options.thresholdTokens() * CHUNK_SHARE)
    const { throughSeq, coveredSeqs } = coverageOf(read, part)
    const inputTokensBefore = tokensBefore(conversationId, read)
    const compactionId = newId()
    const place = { conversationId, channel: 'inner' as const, actor: 'service' as const }
    const requested = await append([
      {
        type: 'context.compaction.requested',
        ...place,
        facts: { compactionId, source, throughSeq: Math.max(1, throughSeq), inputTokensBefore },
      },
    ])
    const causedBy = requested.status === 'appended' ? requested.events[0]?.seq : undefined

    async function fail(kind: CompactionFailureKind): Promise<CompactionOutcome & { more: boolean }> {
      await append([
        { type: 'context.compaction.failed', ...place, causedBy, facts: { compactionId, source, kind } },
      ])
      return { status: 'failed', kind, more: false }
    }

    try {
      const input = part.map(({ item }) => item)
      const commitments = options.commitments()
      const { capsule, blob, usage } = await replace(service, { input, commitments }, signal)
      const problem = rejectionOf(capsule.text, input)
      if (problem) return await fail(problem)
      const rest = sumTokens(read.items.slice(part.length))
      const inputTokensAfter = Math.round(
        (blob === null
          ? estimateTokens(capsule.text)
          : Math.min(estimateTokens(blob), estimateTokens(capsule.text))) +
          rest +
          estimateTokens(options.instructions()),
      )
      const derivedFrom = sources([...options.instructionSeqs(), ...coveredSeqs], capsule, commitments)
      // The owner forgot something while the model was writing. The next attempt leaves it out.
      if (chain.holdsBarred(derivedFrom)) return await fail('interrupted')
      const facts: NewEvent[] = [
        {
          type: 'context.compaction.succeeded',
          ...place,
          causedBy,
          derivedFrom,
          facts: {
            compactionId,
            source,
            method: blob !== null ? 'endpoint' : capsule.method,
            model: { ...service.text.id },
            throughSeq,
            inputTokensBefore,
            inputTokensAfter,
            usage: { ...usage },
          },
          body: { text: capsule.text, replacement: blob },
        },
        {
          type: 'context.capsule.written',
          ...place,
          causedBy,
          derivedFrom,
          facts: { source: 'compaction', method: capsule.method, throughSeq, usage: { ...NO_USAGE } },
          body: { text: capsule.text },
        },
      ]
      const appended = await append(facts)
      // Words were erased while the model was writing, so the ledger dropped the derived body.
      if (appended.status === 'duplicate' || appended.events.some(({ erased }) => erased))
        return await fail('interrupted')
      return { status: 'succeeded', more: part.length < read.items.length }
    } catch (error) {
      if (error instanceof LedgerUnavailable) throw error
      if (signal.aborted) return await fail('interrupted')
      if (error instanceof ModelError) {
        log.warn({ kind: error.kind, cause: error.message }, 'compaction failed')
        return await fail(error.kind)
      }
      log.warn({ err: error }, 'compaction failed')
      return await fail('internal')
    }
  }

  /** Always writes a text; adds the service's opaque form where the service supports compaction. */
  async function replace(
    service: ModelService,
    { input, commitments }: { input: readonly InputItem[]; commitments: readonly Commitment[] },
    signal: AbortSignal,
  ): Promise<{ capsule: Capsule; blob: string | null; usage: Usage }> {
    const facts = { commitments, now: new Date(nowMs()).toISOString(), timezone: options.timezone() }
    const capsule = await writeCapsule(service, input, facts, signal)
    if (!service.compaction) return { capsule, blob: null, usage: capsule.usage }
    try {
      const compaction = await service.compaction.compact(
        { instructions: options.instructions(), input },
        signal,
      )
      return { capsule, blob: compaction.blob, usage: addUsage(capsule.usage, compaction.usage) }
    } catch (error) {
      if (signal.aborted || !(error instanceof ModelError)) throw error
      if (error instanceof CapabilityMissing) return { capsule, blob: null, usage: capsule.usage }
      // A service without the endpoint may answer as malformed or refused. The text alone is enough.
      if (error.kind !== 'malformed' && error.kind !== 'refused') throw error
      return { capsule, blob: null, usage: capsule.usage }
    }
  }

  /** Why a replacement is rejected; null if it is accepted. */
  function rejectionOf(text: string, input: readonly InputItem[]): CompactionFailureKind | null {
    if (text.trim() === '') return 'empty'
    const before = input.reduce((sum, item) => sum + estimateItemTokens(item), 0)
    // A short chain cannot shrink much: the headings alone may outweigh it.
    if (before > SMALL_CHAIN_TOKENS && estimateTokens(text) > before * MAX_RATIO_AFTER) return 'not_smaller'
    return null
  }

  function tokensBefore(conversationId: string, read: Chain): number {
    const recorded = queries.chain(conversationId)?.contextTokens ?? 0
    return recorded > 0 ? recorded : sumTokens(read.items) + estimateTokens(options.instructions())
  }

  function isPausedSince(at: string, pauseMs: number): boolean {
    return leftOfWait(Date.parse(at) + pauseMs, { nowMs: nowMs(), longestMs: pauseMs }) > 0
  }

  return {
    async compact(conversationId, source, signal) {
      for (let round = 1; ; round += 1) {
        const { more, ...outcome } = await compactOnce(conversationId, source, signal)
        if (!more || source === 'manual' || round === MAX_ROUNDS) return outcome
      }
    },
    async refuseBusy(conversationId) {
      const compactionId = newId()
      const place = { conversationId, channel: 'inner' as const, actor: 'service' as const }
      await append([
        {
          type: 'context.compaction.failed',
          ...place,
          facts: { compactionId, source: 'manual', kind: 'busy' },
        },
      ])
    },
    isDue(conversationId) {
      const row = queries.chain(conversationId)
      if (!row || row.completedTurns === 0) return false
      const latest = queries.latestCompaction(conversationId)
      const isLostToErasure = latest?.erased === 1 && (queries.base(conversationId)?.seq ?? 0) < latest.seq
      if (!isLostToErasure && row.contextTokens < options.thresholdTokens()) return false
      // After a useless compaction, an immediate retry would be useless too.
      if (latest && wasUseless(latest) && isPausedSince(latest.at, BREAKER_PAUSE_MS)) return false
      if (row.failures < BREAKER_FAILURES || row.lastFailureAt === null) return true
      const pauseMs = Math.min(
        BREAKER_MAX_PAUSE_MS,
        BREAKER_PAUSE_MS * 2 ** (row.failures - BREAKER_FAILURES),
      )
      return !isPausedSince(row.lastFailureAt, pauseMs)
    },
    async refreshCapsule(conversationId, signal) {
      const row = queries.chain(conversationId)
      if (!row || row.tokensSinceCapsule < options.capsuleTriggerTokens()) return
      const service = options.model()
      const read = await chain.read(conversationId, service.text.id, { textOnly: true })
      const seqs = read.items.flatMap((each) => each.seqs)
      if (seqs.length === 0) return
      const place = { conversationId, channel: 'inner' as const, actor: 'service' as const }
      const fail = async (kind: CapsuleFailureKind): Promise<void> => {
        await append([{ type: 'context.capsule.failed', ...place, facts: { source: 'threshold', kind } }])
      }
      const input = read.items.map(({ item }) => item)
      const commitments = options.commitments()
      const facts = { commitments, now: new Date(nowMs()).toISOString(), timezone: options.timezone() }
      try {
        const capsule = await writeCapsule(service, input, facts, signal)
        if (capsule.text.trim() === '') return await fail('empty')
        const derivedFrom = sources(seqs, capsule, commitments)
        // The owner forgot something while the model was writing.
        if (chain.holdsBarred(derivedFrom)) return await fail('interrupted')
        await append([
          {
            type: 'context.capsule.written',
            ...place,
            derivedFrom,
            facts: {
              source: 'threshold',
              method: capsule.method,
              throughSeq: seqs.reduce((highest, seq) => Math.max(highest, seq), 0),
              usage: { ...capsule.usage },
            },
            body: { text: capsule.text },
          },
        ])
      } catch (error) {
        if (error instanceof LedgerUnavailable) throw error
        // A capsule is optional: the chain works without a fresh one.
        log.warn({ err: error }, 'writing the capsule failed')
        await fail(signal.aborted ? 'interrupted' : error instanceof ModelError ? error.kind : 'internal')
      }
    },
    async recover() {
      for (const row of queries.unfinishedCompactions()) {
        if (row.compactionId === null) continue
        const source = row.compactionSource === 'manual' ? 'manual' : 'automatic'
        await append([
          {
            type: 'context.compaction.failed',
            conversationId: row.conversationId,
            channel: 'inner',
            actor: 'service',
            facts: { compactionId: row.compactionId, source, kind: 'interrupted' },
          },
        ])
      }
    },
  }
}

/** The sources of a capsule. A model is also given the open commitments, wherever they were made. */
function sources(
  seqs: readonly number[],
  { method }: Capsule,
  commitments: readonly Commitment[],
): readonly number[] {
  const given = method === 'model' ? commitments.map(({ seq }) => seq) : []
  return [...new Set([...seqs, ...given])].sort((a, b) => a - b)
}

const SMALL_CHAIN_TOKENS = 500

/** The oldest items that fit in one request. Cuts before an owner message, so calls keep their results. */
function partToCompact(read: Chain, budgetTokens: number): ContextItem[] {
  const part: ContextItem[] = []
  let tokens = 0
  for (const each of read.items) {
    tokens += estimateItemTokens(each.item)
    if (
      part.length > (read.base ? 1 : 0) &&
      tokens > budgetTokens &&
      each.item.type === 'message' &&
      each.item.role === 'owner'
    )
      break
    part.push(each)
  }
  return part
}

/**
 * What a replacement of the part covers: everything through `throughSeq`, plus the seqs in `coveredSeqs`.
 * Turns join the chain when they end, so an earlier message that waited may be missing from the part.
 * `throughSeq` stops before the first such message.
 */
function coverageOf(
  read: Chain,
  part: readonly ContextItem[],
): { throughSeq: number; coveredSeqs: readonly number[] } {
  const partSeqs = part.flatMap(({ seqs }) => seqs)
  const leftSeqs = [...read.items.slice(part.length).flatMap(({ seqs }) => seqs), ...read.openSeqs]
  const lastSeq = partSeqs.reduce((highest, seq) => Math.max(highest, seq), 0)
  const throughSeq = leftSeqs.reduce((lowest, seq) => Math.min(lowest, seq - 1), lastSeq)
  const carried = [...(read.base?.covered ?? [])].filter((seq) => seq > throughSeq)
  return { throughSeq, coveredSeqs: [...carried, ...partSeqs] }
}

function sumTokens(items: readonly ContextItem[]): number {
  return items.reduce((sum, { item }) => sum + estimateItemTokens(item), 0)
}
