import type { Database } from 'better-sqlite3'
import type { Append, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { createErasureQueries, type ErasureRow, type KindCount, kindsOf } from '../../projections/erasures.ts'
import { createSerializer } from '../settings/serializer.ts'
import type { ErasureReason } from '../storage/storage.ts'
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
import type { createTargets, ErasureTarget, Named } from './targets.ts'

/** How long what is to be erased is only hidden. */
export const UNDO_MS = 60_000

export type ErasureRecord = {
  readonly id: string
  readonly kind: ErasureRow['target']
  readonly targetId: string | null
  readonly from: string | null
  readonly to: string | null
  readonly status: ErasureRow['status']
  readonly requestedAt: string
  readonly eraseAt: string
  readonly endedAt: string | null
  /** Events that are to lose their words, or have lost them. */
  readonly events: number
  readonly kinds: readonly KindCount[]
}

/** Where a request comes from. */
export type ErasureOrigin = {
  /** Null for the owner's own hand in the browser. */
  readonly askedSeq: number | null
  readonly channel: NonNullable<NewEvent['channel']>
  readonly conversationId?: string | null
  readonly spanId?: string | null
  readonly turnId?: string | null
  readonly causedBy?: number
}

const BY_HAND: ErasureOrigin = { askedSeq: null, channel: 'system' }

export type Refused = Exclude<Named, { status: 'ok' }>
export type Requested = { readonly erasure: ErasureRecord; readonly plan: PlanDescription }
export type UndoOutcome =
  | { readonly status: 'undone'; readonly erasure: ErasureRecord }
  | { readonly status: 'unknown' }
  /** It has begun, or was undone before. */
  | { readonly status: 'too_late'; readonly erasure: ErasureRecord }

export type Erasures = {
  /** What would go, and what would stay. Nothing happens. */
  plan(target: ErasureTarget): Promise<PlanDescription | Refused>
  /** Hides it at once, and erases it after a minute unless that is undone before. */
  request(target: ErasureTarget, origin?: ErasureOrigin): Promise<Requested | Refused>
  /** Erases it now, for good. Resolves to the number of events that lost their words, once no file holds them. */
  eraseNow(target: ErasureTarget): Promise<{ readonly erased: number } | Refused>
  undo(id: string): Promise<UndoOutcome>
  /** Undoes what was last asked for in words and can still be undone; undefined where there is nothing. */
  undoLast(): Promise<ErasureRecord | undefined>
  get(id: string): ErasureRecord | undefined
  /** What a pending erasure will take and what will stay; null once it is over. */
  pendingPlan(id: string): Promise<PlanDescription | null>
  /** Latest first; `nextSeq` is where the next page begins. */
  list(beforeSeq: number | null, limit: number): { erasures: ErasureRecord[]; nextSeq: number | null }
  /** Erases what fell due meanwhile, then each as its time comes. */
  start(): void
  close(): Promise<void>
}

/** While something waits: often enough for a clock that jumps. */
const LOOK_AGAIN_MS = 500
/** After a failure, doubling from here to there: a full disk is not asked twice a second. */
const RETRY_MS = { first: 1000, longest: 300_000 } as const

export function createErasures(options: {
  readonly append: Append
  /** With what is hidden: at the last moment the plan reads words that nobody sees any more. */
  readonly wholeLedger: LedgerReader
  readonly ledger: LedgerReader
  readonly views: Database
  readonly targets: ReturnType<typeof createTargets>
  readonly planFrom: (roots: readonly ErasureRoot[]) => Promise<ErasurePlan>
  /** Erases exactly these. Resolves to those that had words, once no file holds them. */
  readonly erase: (seqs: readonly number[], reason: ErasureReason) => Promise<readonly number[]>
  /** Keeps memory from learning between the plan and its fact. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>
  /** Memories that an earlier build deleted and a crash kept it from erasing. */
  readonly leftoverSeqs: () => readonly number[]
  readonly removeAdaptationFiles: (seqs: readonly number[]) => Promise<void>
  readonly onHeadMoved: SubscribeHead
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}): Erasures {
  const { append, wholeLedger, nowMs } = options
  const queries = createErasureQueries(options.views)
  const inTurn = createSerializer()
  let alarm: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let retryMs: number = RETRY_MS.first
  let unsubscribe: (() => void) | null = null
  let closed = false
  /** When those that wait are erased. */
  const dueMs = new Map<string, number>()

  async function planOf(target: ErasureTarget, askedSeq: number | null) {
    const named = await options.targets(target, askedSeq)
    if (named.status !== 'ok') return named
    const plan = await options.planFrom(named.roots)
    const events = wholeLedger.readSeqs(plan.seqs).filter((event) => !event.erased)
    // What another erasure hides already goes as well, but its words are not shown.
    const shown = options.ledger.readSeqs(events.map(({ seq }) => seq))
    return {
      status: 'ok' as const,
      named,
      plan,
      events,
      description: describePlan(plan, shown, options.ledger),
    }
  }

  async function plan(target: ErasureTarget): Promise<PlanDescription | Refused> {
    const found = await planOf(target, null)
    return found.status === 'ok' ? found.description : found
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
   * Redacted copies for a request, or for what is left to be erased where one is undone: a reply lacks the words of all
   * erasures that wait. Those that read as the copy that is shown already are left out.
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
    return redactionFacts({ redactions: fresh }, erasureId, wholeLedger)
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
   * From its beginning it cannot be undone. The plan is made again: since the request more may have been said. After a
   * crash it is begun again, which changes nothing but the rest.
   */
  async function carryOut(row: ErasureRow): Promise<number> {
    const { erasureId, requestedSeq, target } = row
    const by = { actor: 'service', channel: 'system', causedBy: requestedSeq } as const
    if (row.status === 'pending') {
      const begun = await append([
        { type: 'erasure.started', ...by, key: endKey(erasureId), facts: { erasureId } },
      ])
      if (begun.status !== 'appended') return 0
    }
    const asked = requestedParts(row, wholeLedger)
    const hidden = queries.hiddenSeqs(erasureId)
    let roots: readonly ErasureRoot[] = rootsOf(asked, wholeLedger)
    const gone = new Set(hidden)
    let erased = 0
    // Facts on their way while it is carried out are found by a second look; later ones are born erased.
    for (let look = 0; look < 2; look += 1) {
      const plan = await options.planFrom(roots)
      roots = plan.roots
      const fresh =
        look === 0 ? [...new Set([...hidden, ...plan.seqs])] : plan.seqs.filter((seq) => !gone.has(seq))
      if (fresh.length === 0) break
      for (const seq of fresh) gone.add(seq)
      const redacted = await redactionsWith(roots, erasureId)
      if (redacted.length > 0) await append(redacted)
      // One by one: a memory that was deleted already must not keep the others.
      for (const fact of look === 0 ? deletionFacts(asked, requestedSeq) : []) await append([fact])
      await options.removeAdaptationFiles(fresh)
      // Also where no words are left: they may still stand in a file.
      erased += (
        await options.erase(
          fresh.sort((a, b) => a - b),
          reasonOf(target),
        )
      ).length
    }
    const events = wholeLedger.readSeqs([...gone].sort((a, b) => a - b))
    await append([
      {
        type: 'erasure.completed',
        ...by,
        key: `erasure-completed:${erasureId}`,
        facts: { erasureId, erased: events.length, kinds: countKinds(events) },
      },
    ])
    return erased
  }

  /** At its moment; where the clock was ahead of it and is set right, a minute from then. */
  function dueMsOf({ erasureId, eraseAt }: ErasureRow): number {
    const due = Math.min(dueMs.get(erasureId) ?? Date.parse(eraseAt), nowMs() + UNDO_MS)
    dueMs.set(erasureId, due)
    return due
  }

  async function look(): Promise<void> {
    // The words of an unfinished erasure are still needed to find their copies.
    const leftover = queries.unfinished().length === 0 ? options.leftoverSeqs() : []
    if (leftover.length > 0) await inTurn(() => options.erase(leftover, 'memory_forgotten'))
    const failures: unknown[] = []
    for (const row of queries.unfinished()) {
      if (closed) return
      if (row.status === 'pending' && dueMsOf(row) > nowMs()) continue
      await inTurn(() => carryOut(row)).then(
        () => dueMs.delete(row.erasureId),
        (error: unknown) => failures.push(error),
      )
    }
    if (failures.length > 0) throw new AggregateError(failures, 'an erasure failed')
    retryMs = RETRY_MS.first
  }

  function run(): void {
    running = look().then(
      () => arm(LOOK_AGAIN_MS),
      (error: unknown) => {
        options.onFault(error)
        arm(retryMs)
        retryMs = Math.min(retryMs * 2, RETRY_MS.longest)
      },
    )
  }

  function arm(afterMs: number): void {
    if (closed || alarm !== undefined || queries.unfinished().length === 0) return
    alarm = setTimeout(() => {
      alarm = undefined
      run()
    }, afterMs)
    alarm.unref()
  }

  function recordOf(id: string): ErasureRecord {
    const row = queries.byId(id)
    if (!row) throw new Error(`erasure ${id} is not in the views right after its fact`)
    return toRecord(row)
  }

  return {
    plan,
    request: (target, origin = BY_HAND) => inTurn(() => request(target, origin, UNDO_MS)),
    eraseNow: (target) =>
      inTurn(async () => {
        const requested = await request(target, BY_HAND, 0)
        if (!('erasure' in requested)) return requested
        const row = queries.byId(requested.erasure.id)
        return { erased: row ? await carryOut(row) : 0 }
      }),
    undo: (id) => inTurn(() => undo(id)),
    undoLast: () =>
      inTurn(async () => {
        const row = queries.unfinished().findLast((each) => {
          const isPending = each.status === 'pending' && reasonOf(each.target) === 'memory_forgotten'
          return isPending && requestedParts(each, wholeLedger).isByTool
        })
        const outcome = row && (await undo(row.erasureId))
        return outcome?.status === 'undone' ? outcome.erasure : undefined
      }),
    get(id) {
      const row = queries.byId(id)
      return row && toRecord(row)
    },
    async pendingPlan(id) {
      const row = queries.byId(id)
      if (row?.status !== 'pending') return null
      const asked = requestedParts(row, wholeLedger)
      const plan = await options.planFrom(rootsOf(asked, wholeLedger))
      const hidden = queries.hiddenSeqs(id)
      const stays = plan.stays.length > 0 ? plan.stays : asked.barred
      return describePlan({ ...plan, stays }, wholeLedger.readSeqs(hidden), wholeLedger)
    },
    list(beforeSeq, limit) {
      const rows = queries.page(beforeSeq ?? Number.MAX_SAFE_INTEGER, limit + 1)
      const shown = rows.slice(0, limit)
      const nextSeq = rows.length > limit ? (shown.at(-1)?.requestedSeq ?? null) : null
      return { erasures: shown.map(toRecord), nextSeq }
    },
    start() {
      unsubscribe = options.onHeadMoved(() => arm(LOOK_AGAIN_MS), ['erasure'])
      run()
    },
    async close() {
      closed = true
      unsubscribe?.()
      clearTimeout(alarm)
      await running
    },
  }
}

/** One root an event: it loses the words of all, and stays only where all let it. */
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

function toRecord(row: ErasureRow): ErasureRecord {
  const { erasureId: id, target: kind, targetId, fromAt: from, toAt: to } = row
  const { status, requestedAt, eraseAt, endedAt, events } = row
  return { id, kind, targetId, from, to, status, requestedAt, eraseAt, endedAt, events, kinds: kindsOf(row) }
}
