import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { NewEvent } from '../../ledger/event.ts'
import { createErasureQueries, type ErasureRow, kindsOf } from '../../projections/erasures.ts'
import { createReactor } from '../lib/reactor.ts'
import type { Origin } from '../model/tool.ts'
import type { OfflineCopies } from '../settings/offline-copies.ts'
import type { ErasedElsewhere } from '../storage/messages.ts'
import type { ErasureReason, Storage } from '../storage/storage.ts'
import {
  deletionFacts,
  endKey,
  partsOf,
  redactionFacts,
  requestedParts,
  requestFacts,
  rootsOf,
} from './erasure-facts.ts'
import { countKinds } from './kinds.ts'
import type { ErasurePlan, ErasureRoot } from './plan.ts'
import { describePlan, type PlanDescription } from './plan-text.ts'
import { type createTargets, type ErasureTarget, type Named, outlinesOf } from './targets.ts'

/** How long an erasure can be undone. */
export const UNDO_MS = 60_000

export type ErasureRecord = ReturnType<typeof toRecord>

/** `askedSeq`: the message that asked; null for a request from the browser. */
export type ErasureOrigin = Omit<Origin, 'derivedFrom' | 'key'> & {
  readonly askedSeq: number | null
}

const BY_HAND: ErasureOrigin = { askedSeq: null, channel: 'system' }

/**
 * The backups that hold events from a seq on; null if there are none. `missing` of them are not in the backup
 * directory, and the last of the others is removed at `until` (null: never).
 */
export type BackupsHolding = (
  seq: number,
) => Promise<{ readonly count: number; readonly until: string | null; readonly missing?: number } | null>

export type Refused = Exclude<Named, { status: 'ok' }>
export type Requested = { readonly erasure: ErasureRecord; readonly plan: PlanDescription }
export type UndoOutcome =
  | { readonly status: 'undone'; readonly erasure: ErasureRecord }
  | { readonly status: 'unknown' }
  /** It has started, or was undone before. */
  | { readonly status: 'too_late'; readonly erasure: ErasureRecord }

export type Erasures = ReturnType<typeof createErasures>

/** Polls while erasures are pending, because the clock may jump. */
const POLL_MS = 500
/** How often, and how long in between, PostgreSQL is asked for the receipt. */
const LOOKS_ELSEWHERE = 5
const LOOK_ELSEWHERE_MS = 300
/** Delay after a failure; doubles up to the longest. */
const RETRY_MS = { first: 1000, longest: 300_000 } as const

export function createErasures(options: {
  readonly storage: Storage
  readonly targets: ReturnType<typeof createTargets>
  readonly planFrom: (roots: readonly ErasureRoot[]) => Promise<ErasurePlan>
  /** Erases exactly these events. Resolves to those that had a body, once no file contains it. */
  readonly erase: Storage['erase']
  /** Blocks learning between the plan and its fact. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>
  readonly removeAdaptationFiles: (seqs: readonly number[]) => Promise<void>
  readonly backupsHolding: BackupsHolding
  /** Offline copies from before a time. */
  readonly copiesFrom: OfflineCopies['from']
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}) {
  const { nowMs } = options
  // The final plan must read hidden events.
  const { append, ledger, wholeLedger, views, onHeadMoved } = options.storage
  const queries = createErasureQueries(views)
  const inTurn = pLimit(1)
  /** Due times of pending erasures. */
  const dueMs = new Map<string, number>()
  const reactor = createReactor<ErasureRow>({
    onHeadMoved,
    areas: ['erasure'],
    next: (isTaken) =>
      queries
        .unfinished()
        .find((row) => !isTaken(row.erasureId) && (row.status !== 'pending' || dueMsOf(row) < nowMs())),
    laneOf: ({ erasureId }) => erasureId,
    run: (row): Promise<number> => inTurn(async () => (reactor.isOpen() ? carryOut(row) : 0)),
    dueInMs: () => (queries.unfinished().length === 0 ? null : POLL_MS),
    retryMs: RETRY_MS,
    onFault: options.onFault,
  })

  async function planOf(target: ErasureTarget, askedSeq: number | null) {
    const named = await options.targets(target, askedSeq)
    if (named.status !== 'ok') return named
    const plan = await options.planFrom(named.roots)
    const events = (await outlinesOf(wholeLedger, plan.seqs)).filter((event) => !event.erased)
    // Events that another erasure hides are included, but their words are not shown.
    return {
      status: 'ok' as const,
      named,
      events,
      description: describePlan(plan, events, { words: ledger, ledger }),
    }
  }

  function request(
    target: ErasureTarget,
    origin: ErasureOrigin,
    undoMs: number,
  ): Promise<Requested | Refused> {
    return options.exclusively(async () => {
      const found = await planOf(target, origin.askedSeq)
      if (found.status !== 'ok') return found
      const erasureId = options.newId()
      const eraseAt = new Date(nowMs() + undoMs).toISOString()
      const redacted = await redactionsWith(found.named.roots, erasureId)
      await append([...redacted, ...requestFacts({ target, origin, erasureId, eraseAt, ...found })])
      return { erasure: recordOf(erasureId), plan: found.description }
    })
  }

  /**
   * Redacted copies for `roots` and all unfinished erasures except `erasureId`, since a reply must lack the
   * words of all of them. Skips copies that equal the one already shown.
   */
  async function redactionsWith(
    roots: readonly ErasureRoot[],
    erasureId: string,
  ): Promise<readonly NewEvent[]> {
    const others = queries.unfinished().filter((row) => row.erasureId !== erasureId)
    const waiting = others.flatMap((row) => rootsOf(requestedParts(row, wholeLedger), wholeLedger))
    const all = [...waiting, ...roots]
    if (all.length === 0) return []
    const { redactions } = await options.planFrom(joined(all))
    const fresh = redactions.filter(({ replySeq, text }) => {
      const [copy] = wholeLedger.readSeqs([queries.copiesOf(replySeq).at(-1) ?? 0])
      return copy?.type !== 'reply.redacted' || copy.body?.text !== text
    })
    return redactionFacts(fresh, erasureId, wholeLedger)
  }

  async function undo(id: string): Promise<UndoOutcome> {
    const row = queries.byId(id)
    if (!row) return { status: 'unknown' }
    const parts = partsOf(queries.hiddenByThisAlone(id))
    const facts = parts.map(
      (seqs, part): NewEvent => ({
        type: 'erasure.undone',
        actor: 'owner',
        channel: 'system',
        causedBy: row.requestedSeq,
        ...(part === 0 ? { key: endKey(id) } : {}),
        facts: { erasureId: id, seqs, part, parts: parts.length },
      }),
    )
    const redacted = row.status === 'pending' ? await redactionsWith([], id) : []
    const result = row.status === 'pending' ? await append([...facts, ...redacted]) : null
    dueMs.delete(id)
    const erasure = recordOf(id)
    return { status: result?.status === 'appended' ? 'undone' : 'too_late', erasure }
  }

  /**
   * Starts an erasure, which can then no longer be undone, and completes it. Plans again, because more may
   * have been said since the request. Idempotent: after a crash it is run again.
   */
  async function carryOut(row: ErasureRow): Promise<number> {
    const { erasureId, requestedSeq, target } = row
    const by = { actor: 'service', channel: 'system', causedBy: requestedSeq } as const
    if (row.status === 'pending') {
      const started = await append([
        { type: 'erasure.started', ...by, key: endKey(erasureId), facts: { erasureId } },
      ])
      if (started.status !== 'appended') return 0
    }
    const asked = requestedParts(row, wholeLedger)
    const hidden = queries.hiddenSeqs(erasureId)
    let roots: readonly ErasureRoot[] = rootsOf(asked, wholeLedger)
    const erasedSeqs = new Set(hidden)
    let erased = 0
    // A second pass finds facts appended during the first; later ones are stored without their bodies.
    for (let pass = 0; pass < 2; pass += 1) {
      const plan = await options.planFrom([...roots, ...(await addedSince(row))])
      roots = plan.roots
      const fresh =
        pass === 0 ? [...new Set([...hidden, ...plan.seqs])] : plan.seqs.filter((seq) => !erasedSeqs.has(seq))
      if (fresh.length === 0) break
      for (const seq of fresh) erasedSeqs.add(seq)
      const redacted = await redactionsWith(roots, erasureId)
      if (redacted.length > 0) await append(redacted)
      // One by one: a taken key of an already deleted memory must not block the others.
      for (const fact of pass === 0 ? deletionFacts(asked, requestedSeq) : []) await append([fact])
      await options.removeAdaptationFiles(fresh)
      // Includes events without a body: a file may still contain it.
      erased += (
        await options.erase(
          fresh.sort((a, b) => a - b),
          reasonOf(target),
        )
      ).length
    }
    const events = await outlinesOf(
      wholeLedger,
      [...erasedSeqs].sort((a, b) => a - b),
    )
    const postgres = await erasedElsewhere()
    const devices = options.copiesFrom(row.requestedAt)
    const backups = events[0] && (await options.backupsHolding(events[0].seq))
    await append([
      {
        type: 'erasure.completed',
        ...by,
        key: `erasure-completed:${erasureId}`,
        facts: {
          erasureId,
          erased: events.length,
          kinds: countKinds(events),
          ...(postgres && { postgres }),
          ...(devices.length > 0 && { devices }),
          ...(backups && { backups }),
        },
      },
    ])
    return erased
  }

  /** What imports have added to an imported conversation since the request, which is not hidden. */
  async function addedSince({ target, targetId }: ErasureRow): Promise<readonly ErasureRoot[]> {
    if (target !== 'imported' || targetId === null) return []
    const added = await options.targets({ kind: target, id: targetId }, null)
    return added.status === 'ok' ? added.roots : []
  }

  /** Gives PostgreSQL and other machines a moment to follow. */
  async function erasedElsewhere(): Promise<ErasedElsewhere | null> {
    for (let look = 1; ; look += 1) {
      const found = await options.storage.erasedElsewhere()
      const isOver = found === null || (found.erased && found.nodes.length === 0)
      if (isOver || look === LOOKS_ELSEWHERE) return found
      await pause(LOOK_ELSEWHERE_MS)
    }
  }

  /** At most `UNDO_MS` from now, even if the clock was ahead at the request. */
  function dueMsOf({ erasureId, eraseAt }: ErasureRow): number {
    const due = Math.min(dueMs.get(erasureId) ?? Date.parse(eraseAt), nowMs() + UNDO_MS)
    dueMs.set(erasureId, due)
    return due
  }

  function recordOf(id: string): ErasureRecord {
    const row = queries.byId(id)
    if (!row) throw new Error(`erasure ${id} is missing from the views after its append`)
    return toRecord(row)
  }

  /** Describes a pending erasure; null once it has started or was undone. */
  async function pendingPlan(id: string): Promise<PlanDescription | null> {
    const row = queries.byId(id)
    if (row?.status !== 'pending') return null
    const asked = requestedParts(row, wholeLedger)
    const plan = await options.planFrom(rootsOf(asked, wholeLedger))
    const stays = plan.stays.length > 0 ? plan.stays : asked.barred
    const hidden = await outlinesOf(wholeLedger, queries.hiddenSeqs(id))
    return describePlan({ ...plan, stays }, hidden, { words: wholeLedger, ledger })
  }

  return {
    /** Describes what would go and what would stay, without erasing. */
    async plan(target: ErasureTarget): Promise<PlanDescription | Refused> {
      const found = await planOf(target, null)
      return found.status === 'ok' ? found.description : found
    },
    /** Hides the target at once, and erases it after `UNDO_MS` unless undone. */
    request: (target: ErasureTarget, origin = BY_HAND) => inTurn(() => request(target, origin, UNDO_MS)),
    /** Erases at once. Resolves to the number of erased bodies, once no file contains them. */
    eraseNow: (target: ErasureTarget): Promise<{ readonly erased: number } | Refused> =>
      inTurn(async () => {
        const requested = await request(target, BY_HAND, 0)
        if (!('erasure' in requested)) return requested
        const row = queries.byId(requested.erasure.id)
        return { erased: row ? await carryOut(row) : 0 }
      }),
    undo: (id: string) => inTurn(() => undo(id)),
    /** Undoes the last pending erasure that a tool requested, and describes it. Null if there is none. */
    undoLast: () =>
      inTurn(async (): Promise<PlanDescription | null> => {
        const row = queries.unfinished().findLast((each) => {
          const isPending = each.status === 'pending' && reasonOf(each.target) === 'memory_forgotten'
          return isPending && requestedParts(each, wholeLedger).isByTool
        })
        const plan = row === undefined ? null : await pendingPlan(row.erasureId)
        return row !== undefined && (await undo(row.erasureId)).status === 'undone' ? plan : null
      }),
    get(id: string): ErasureRecord | undefined {
      const row = queries.byId(id)
      return row && toRecord(row)
    },
    pendingPlan,
    /** Newest first; pass `nextSeq` as `beforeSeq` for the next page. */
    list(beforeSeq: number | null, limit: number) {
      const rows = queries.page(beforeSeq ?? Number.MAX_SAFE_INTEGER, limit + 1)
      const shown = rows.slice(0, limit)
      const nextSeq = rows.length > limit ? (shown.at(-1)?.requestedSeq ?? null) : null
      return { erasures: shown.map(toRecord), nextSeq }
    },
    /** Carries out overdue erasures, then each one when it is due. */
    start: reactor.start,
    close: reactor.close,
  }
}

/** Merges the roots of each event: it loses all their words, and stays only if all of them let it stay. */
function joined(roots: readonly ErasureRoot[]): ErasureRoot[] {
  return [...Map.groupBy(roots, ({ seq }) => seq)].map(([seq, same]) => ({
    seq,
    words: same.some(({ words }) => words === null) ? null : same.flatMap(({ words }) => words ?? []),
    stays: same.every(({ stays }) => stays),
  }))
}

function reasonOf(target: ErasureRow['target']): ErasureReason {
  if (target === 'memory' || target === 'words') return 'memory_forgotten'
  return target === 'note' ? 'note_deleted' : 'owner'
}

function toRecord(row: ErasureRow) {
  const { erasureId: id, target: kind, targetId, fromAt: from, toAt: to } = row
  const { status, requestedAt, eraseAt, endedAt, events } = row
  return { id, kind, targetId, from, to, status, requestedAt, eraseAt, endedAt, events, kinds: kindsOf(row) }
}
