import type { Database } from 'better-sqlite3'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Append, EventOf, NewEvent } from '../../../ledger/event.ts'
import { createContextQueries, wasUseless } from '../../../projections/context.ts'
import { leftOfWait } from '../../lib/waits.ts'
import { addUsage, CapabilityMissing, ModelError, type ModelService, NO_USAGE } from '../../model/port.ts'
import { estimateItemTokens, estimateTokens } from '../../model/tokens.ts'
import { estimateInput, itemTokens } from '../../model/within-context.ts'
import { type Capsule, type Commitment, writeCapsule } from './capsule.ts'
import type { Chain, ChainReader } from './chain.ts'
import type { ContextItem } from './context.ts'
import { fitItems } from './fit.ts'
import { profileOf } from './profile.ts'

type CompactionSource = 'manual' | 'automatic'
type FailureKind = EventOf<'context.compaction.failed'>['facts']['kind']
type CapsuleFailureKind = EventOf<'context.capsule.failed'>['facts']['kind']
export type CompactionOutcome =
  | { readonly status: 'succeeded' }
  | { readonly status: 'failed'; readonly kind: FailureKind }

/** After this many consecutive failures, automatic compaction pauses; the pause doubles each time. */
const BREAKER_FAILURES = 3
const BREAKER_PAUSE_MS = 15 * 60_000
const BREAKER_MAX_PAUSE_MS = 24 * 60 * 60_000
/** Replacements per automatic compaction. The rest waits for the end of the next turn. */
const MAX_ROUNDS = 8
/** Share of the threshold for one request. The rest leaves room for the answer and for low estimates. */
const CHUNK_SHARE = 0.8
/** Share of what may be sent. The rest is for the instructions. */
const CAPSULE_INPUT_SHARE = 0.75
/** A replacement larger than this share of the original is rejected. */
const MAX_RATIO_AFTER = 0.9
/** A short chain cannot shrink much: the headings alone may outweigh it. */
const SMALL_CHAIN_TOKENS = 500

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
}) {
  const { append, views, chain, newId, nowMs, log } = options
  const queries = createContextQueries(views)
  const profile = () => profileOf(options.model().context?.tokens ?? null)
  const placeOf = (conversationId: string) =>
    ({ conversationId, channel: 'inner', actor: 'service' }) as const

  /** One replacement. `more` says whether a part of the chain is left to replace. */
  async function compactOnce(conversationId: string, source: CompactionSource, signal: AbortSignal) {
    const service = options.model()
    const read = await chain.read(conversationId, service.text.id)
    const limits = profile()
    const keepTokens = limits?.keepTokens ?? 0
    const most = options.thresholdTokens() * CHUNK_SHARE
    const budget = limits ? Math.min(most, limits.requestTokens * CAPSULE_INPUT_SHARE) : most
    const part = partToCompact(read, budget, keepTokens)
    const left = read.items.slice(part.length)
    const coverage = coverageOf(read, part)
    const facts = { compactionId: newId(), source, inputTokensBefore: tokensBefore(conversationId, read) }
    const throughSeq = Math.max(1, coverage.throughSeq)
    const requested = await append([
      {
        type: 'context.compaction.requested',
        ...placeOf(conversationId),
        facts: { ...facts, throughSeq },
      },
    ])
    const causedBy = requested.status === 'appended' ? requested.events[0]?.seq : undefined
    const place = { ...placeOf(conversationId), causedBy }
    const kind = await replace(service, { place, facts, part, left, ...coverage }, signal).catch(
      (error: unknown) => failureOf(error, signal),
    )
    if (kind === null) return { status: 'succeeded', more: sumTokens(left) > keepTokens } as const
    const { compactionId } = facts
    await append([{ type: 'context.compaction.failed', ...place, facts: { compactionId, source, kind } }])
    return { status: 'failed', kind, more: false } as const
  }

  /** Writes and records the replacement of a part of the chain. Returns why it is rejected, else null. */
  async function replace(
    service: ModelService,
    { place, facts, part, left, throughSeq, coveredSeqs }: Attempt,
    signal: AbortSignal,
  ): Promise<FailureKind | null> {
    const { capsule, commitments } = await write(service, part, signal)
    const { blob, usage } = await compactByService(service, part, signal)
    const textTokens = estimateTokens(capsule.text)
    const before = sumTokens(part)
    if (capsule.text.trim() === '') return 'empty'
    if (before > SMALL_CHAIN_TOKENS && textTokens > before * MAX_RATIO_AFTER) return 'not_smaller'
    const derivedFrom = sources([...options.instructionSeqs(), ...coveredSeqs], capsule, commitments)
    // The owner forgot something while the model was writing. The next attempt leaves it out.
    if (chain.holdsBarred(derivedFrom)) return 'interrupted'
    const blobTokens = blob === null ? textTokens : estimateTokens(blob)
    const appended = await append([
      {
        type: 'context.compaction.succeeded',
        ...place,
        derivedFrom,
        facts: {
          ...facts,
          method: blob !== null ? 'endpoint' : capsule.method,
          model: { ...service.text.id },
          throughSeq,
          inputTokensAfter:
            Math.min(blobTokens, textTokens) + sumTokens(left) + estimateTokens(options.instructions()),
          usage: addUsage(capsule.usage, usage),
          foreign: [...part, ...givenTo(capsule, commitments)].some(({ foreign }) => foreign),
        },
        body: { text: capsule.text, replacement: blob },
      },
      {
        type: 'context.capsule.written',
        ...place,
        derivedFrom,
        facts: { source: 'compaction', method: capsule.method, throughSeq, usage: { ...NO_USAGE } },
        body: { text: capsule.text },
      },
    ])
    // Words were erased while the model was writing, so the ledger dropped the derived body.
    const isDropped = appended.status === 'duplicate' || appended.events.some(({ erased }) => erased)
    return isDropped ? 'interrupted' : null
  }

  async function write(service: ModelService, items: readonly ContextItem[], signal: AbortSignal) {
    const limits = profile()
    const all = options.commitments()
    // Those that do not fit are found by their tool.
    const commitments = limits ? firstOf(all, limits.capsuleTokens / 2) : all
    const present = { now: new Date(nowMs()).toISOString(), timezone: options.timezone() }
    const whole = items.map(({ item }) => item)
    const input = limits ? fitItems(whole, limits.requestTokens * CAPSULE_INPUT_SHARE) : whole
    const maxTokens = limits?.capsuleTokens
    const capsule = await writeCapsule(service, input, { commitments, ...present, maxTokens }, signal)
    return { capsule, commitments }
  }

  /** The service's opaque form; null if the service does not support compaction. The text is enough then. */
  async function compactByService(service: ModelService, items: readonly ContextItem[], signal: AbortSignal) {
    const nothing = { blob: null, usage: NO_USAGE }
    if (!service.compaction) return nothing
    const input = items.map(({ item }) => item)
    try {
      return await service.compaction.compact({ instructions: options.instructions(), input }, signal)
    } catch (error) {
      // A service without the endpoint may answer as malformed or refused.
      const isUnsupported =
        error instanceof CapabilityMissing ||
        (error instanceof ModelError && (error.kind === 'malformed' || error.kind === 'refused'))
      if (signal.aborted || !isUnsupported) throw error
      return nothing
    }
  }

  /** Rethrows if the ledger is unavailable. */
  function failureOf(error: unknown, signal: AbortSignal): CapsuleFailureKind {
    if (error instanceof LedgerUnavailable) throw error
    if (signal.aborted) return 'interrupted'
    log.warn({ err: error }, 'compaction failed')
    return error instanceof ModelError ? error.kind : 'internal'
  }

  function tokensBefore(conversationId: string, read: Chain): number {
    const recorded = queries.chain(conversationId)?.contextTokens ?? 0
    return recorded > 0 ? recorded : sumTokens(read.items) + estimateTokens(options.instructions())
  }

  function isPausedSince(at: string, pauseMs: number): boolean {
    return leftOfWait(Date.parse(at) + pauseMs, { nowMs: nowMs(), longestMs: pauseMs }) > 0
  }

  async function recordCapsule(
    conversationId: string,
    signal: AbortSignal,
  ): Promise<CapsuleFailureKind | null> {
    const service = options.model()
    const { items } = await chain.read(conversationId, service.text.id, { textOnly: true })
    const seqs = items.flatMap((each) => each.seqs)
    if (seqs.length === 0) return null
    const { capsule, commitments } = await write(service, items, signal)
    if (capsule.text.trim() === '') return 'empty'
    const derivedFrom = sources(seqs, capsule, commitments)
    // The owner forgot something while the model was writing.
    if (chain.holdsBarred(derivedFrom)) return 'interrupted'
    const throughSeq = seqs.reduce((highest, seq) => Math.max(highest, seq), 0)
    const { method, usage } = capsule
    await append([
      {
        type: 'context.capsule.written',
        ...placeOf(conversationId),
        derivedFrom,
        facts: { source: 'threshold', method, throughSeq, usage: { ...usage } },
        body: { text: capsule.text },
      },
    ])
    return null
  }

  return {
    /** Replaces the chain, or records why it could not. Rejects only if the ledger is unavailable. */
    async compact(
      conversationId: string,
      source: CompactionSource,
      signal: AbortSignal,
    ): Promise<CompactionOutcome> {
      for (let round = 1; ; round += 1) {
        const { more, ...outcome } = await compactOnce(conversationId, source, signal)
        if (!more || source === 'manual' || round === MAX_ROUNDS) return outcome
      }
    },
    /** Records a manual attempt made while a turn was running. */
    async refuseBusy(conversationId: string): Promise<void> {
      const facts = { compactionId: newId(), source: 'manual', kind: 'busy' } as const
      await append([{ type: 'context.compaction.failed', ...placeOf(conversationId), facts }])
    },
    /** Whether a small context can no longer hold the conversation: what does not fit is left out. */
    async isOverfull(conversationId: string): Promise<boolean> {
      const limits = profile()
      if (!limits) return false
      const { items } = await chain.read(conversationId, options.model().text.id)
      return estimateInput(items.map(({ item }) => item)) > limits.historyTokens
    },
    /** Whether the chain is too long or lost its base to an erasure, and the breaker allows an attempt. */
    isDue(conversationId: string, isOverfull = false): boolean {
      const row = queries.chain(conversationId)
      if (!row || row.completedTurns === 0) return false
      const latest = queries.latestCompaction(conversationId)
      const isLostToErasure = latest?.erased === 1 && (queries.base(conversationId)?.seq ?? 0) < latest.seq
      if (!isLostToErasure && !isOverfull && row.contextTokens < options.thresholdTokens()) return false
      // After a useless compaction, an immediate retry would be useless too.
      if (
        latest &&
        !isOverfull &&
        !isLostToErasure &&
        wasUseless(latest) &&
        isPausedSince(latest.at, BREAKER_PAUSE_MS)
      )
        return false
      if (row.failures < BREAKER_FAILURES || row.lastFailureAt === null) return true
      const pauseMs = BREAKER_PAUSE_MS * 2 ** (row.failures - BREAKER_FAILURES)
      return !isPausedSince(row.lastFailureAt, Math.min(BREAKER_MAX_PAUSE_MS, pauseMs))
    },
    /** Writes a new capsule once enough tokens were added since the last attempt. */
    async refreshCapsule(conversationId: string, signal: AbortSignal): Promise<void> {
      const row = queries.chain(conversationId)
      if (!row || row.tokensSinceCapsule < options.capsuleTriggerTokens()) return
      // A capsule is optional: the chain works without a fresh one.
      const kind = await recordCapsule(conversationId, signal).catch((error: unknown) =>
        failureOf(error, signal),
      )
      if (kind === null) return
      const facts = { source: 'threshold', kind } as const
      await append([{ type: 'context.capsule.failed', ...placeOf(conversationId), facts }])
    },
    /** Records compactions that a crash interrupted as failed. */
    async recover(): Promise<void> {
      for (const { conversationId, compactionId, compactionSource } of queries.unfinishedCompactions()) {
        if (compactionId === null) continue
        const source = compactionSource === 'manual' ? 'manual' : 'automatic'
        const facts = { compactionId, source, kind: 'interrupted' } as const
        await append([{ type: 'context.compaction.failed', ...placeOf(conversationId), facts }])
      }
    },
  }
}

type Coverage = { readonly throughSeq: number; readonly coveredSeqs: readonly number[] }

/** An attempt to replace the `part` of the chain; `left` stays. */
type Attempt = Coverage & {
  readonly place: Pick<NewEvent, 'conversationId' | 'channel' | 'causedBy'> & { readonly actor: 'service' }
  readonly facts: Pick<
    EventOf<'context.compaction.succeeded'>['facts'],
    'compactionId' | 'source' | 'inputTokensBefore'
  >
  readonly part: readonly ContextItem[]
  readonly left: readonly ContextItem[]
}

/** The sources of a capsule. A model is also given the open commitments, wherever they were made. */
function sources(
  seqs: readonly number[],
  capsule: Capsule,
  commitments: readonly Commitment[],
): readonly number[] {
  const given = givenTo(capsule, commitments).map(({ seq }) => seq)
  return [...new Set([...seqs, ...given])].sort((a, b) => a - b)
}

/** The builtin model is given none. */
const givenTo = ({ method }: Capsule, commitments: readonly Commitment[]) =>
  method === 'model' ? commitments : []

/** The first that fit. */
function firstOf(commitments: readonly Commitment[], tokens: number): readonly Commitment[] {
  let left = tokens
  return commitments.filter(({ title }) => {
    left -= estimateTokens(title)
    return left >= 0
  })
}

/**
 * The oldest items that fit in one request, without the newest `keepTokens`. Cuts before an owner message, so calls
 * keep their results.
 */
function partToCompact(read: Chain, budgetTokens: number, keepTokens: number): ContextItem[] {
  const older = withoutNewest(read.items, keepTokens)
  const items = older.length > (read.base ? 1 : 0) ? older : read.items
  const costs = itemTokens(items.map(({ item }) => item))
  const part: ContextItem[] = []
  let tokens = 0
  for (const [place, each] of items.entries()) {
    tokens += costs[place] ?? 0
    if (part.length > (read.base ? 1 : 0) && tokens > budgetTokens && isOwners(each)) break
    part.push(each)
  }
  return part
}

const isOwners = ({ item }: ContextItem) => item.type === 'message' && item.role === 'owner'

/** The items up to the first owner message of the newest ones. */
function withoutNewest(items: readonly ContextItem[], tokens: number): readonly ContextItem[] {
  let left = tokens
  let end = items.length
  for (const [place, each] of [...items.entries()].reverse()) {
    left -= estimateItemTokens(each.item)
    if (left < 0) break
    if (isOwners(each)) end = place
  }
  return items.slice(0, end)
}

/**
 * What a replacement of the part covers: everything through `throughSeq`, plus the seqs in `coveredSeqs`.
 * Turns join the chain when they end, so an earlier message that waited may be missing from the part.
 * `throughSeq` stops before the first such message.
 */
function coverageOf(read: Chain, part: readonly ContextItem[]): Coverage {
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
