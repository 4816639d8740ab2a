import type { Database } from 'better-sqlite3'
import type { Append, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { createErasureQueries, type ErasureRow, type KindCount, kindsOf } from '../../projections/erasures.ts'
import { createSerializer } from '../settings/serializer.ts'
import type { Erasure } from './erasure.ts'
import { countKinds, excerptOf, type Kind, kindOf } from './kinds.ts'
import type { createTargets, ErasureTarget, Named } from './targets.ts'

/** How long what is to be erased is only hidden. */
export const UNDO_MS = 60_000

export type PlanItem = { readonly seq: number; readonly at: string; readonly text: string }
export type PlanGroup = { readonly kind: Kind; readonly count: number; readonly items: readonly PlanItem[] }
export type ErasurePlan = {
  readonly count: number
  /** What was named. */
  readonly named: readonly PlanGroup[]
  /** What was copied or learned from it, and goes with it. */
  readonly derived: readonly PlanGroup[]
}

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

export type Refused = Exclude<Named, { status: 'ok' }>
export type UndoOutcome =
  | { readonly status: 'undone'; readonly erasure: ErasureRecord }
  | { readonly status: 'unknown' }
  /** It has begun, or was undone before. */
  | { readonly status: 'too_late'; readonly erasure: ErasureRecord }

export type Erasures = {
  /** What would go. Nothing happens. */
  plan(target: ErasureTarget): Promise<ErasurePlan | Refused>
  /** Hides it at once, and erases it after a minute unless that is undone before. */
  request(target: ErasureTarget): Promise<ErasureRecord | Refused>
  undo(id: string): Promise<UndoOutcome>
  get(id: string): ErasureRecord | undefined
  /** Latest first; `nextSeq` is where the next page begins. */
  list(beforeSeq: number | null, limit: number): { erasures: ErasureRecord[]; nextSeq: number | null }
  /** Erases what fell due meanwhile, then each as its time comes. */
  start(): void
  close(): Promise<void>
}

const SEQS_A_FACT = 500
const ITEMS_A_GROUP = 20
/** While something waits: often enough for a clock that jumps, and seldom enough to cost nothing. */
const LOOK_AGAIN_MS = 500

export function createErasures(options: {
  readonly append: Append
  /** With what is hidden: the plan of the last moment reads words that nobody sees any more. */
  readonly wholeLedger: LedgerReader
  readonly ledger: LedgerReader
  readonly views: Database
  readonly erasure: Erasure
  readonly targetSeqs: ReturnType<typeof createTargets>
  readonly forgetMemory: (memoryId: string) => Promise<unknown>
  readonly removeAdaptationFiles: (seqs: readonly number[]) => Promise<void>
  readonly onHeadMoved: SubscribeHead
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}): Erasures {
  const { append, erasure, nowMs } = options
  const queries = createErasureQueries(options.views)
  const inTurn = createSerializer()
  let alarm: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let unsubscribe: (() => void) | null = null
  let closed = false
  /** When those that wait are erased. */
  const dueMs = new Map<string, number>()

  /** The seqs that would go, without what is gone or hidden already. */
  async function closureOf(target: ErasureTarget) {
    const named = await options.targetSeqs(target)
    if (named.status !== 'ok') return named
    const all = options.ledger.readSeqs(await erasure.plan(named.seqs)).filter((event) => !event.erased)
    return { status: 'ok' as const, named: new Set(named.seqs), events: all }
  }

  async function plan(target: ErasureTarget): Promise<ErasurePlan | Refused> {
    const found = await closureOf(target)
    if (found.status !== 'ok') return found
    const { named, events } = found
    return {
      count: events.length,
      named: groupsOf(events.filter(({ seq }) => named.has(seq))),
      derived: groupsOf(events.filter(({ seq }) => !named.has(seq))),
    }
  }

  async function request(target: ErasureTarget): Promise<ErasureRecord | Refused> {
    const found = await closureOf(target)
    if (found.status !== 'ok') return found
    const erasureId = options.newId()
    const eraseAt = new Date(nowMs() + UNDO_MS).toISOString()
    const parts = partsOf(found.events.map(({ seq }) => seq))
    const facts = parts.map(
      (seqs, part): NewEvent => ({
        type: 'erasure.requested',
        actor: 'owner',
        channel: 'system',
        facts: {
          erasureId,
          target: target.kind,
          targetId: target.kind === 'period' ? null : target.id,
          from: target.kind === 'period' ? target.from : null,
          to: target.kind === 'period' ? target.to : null,
          seqs,
          part,
          parts: parts.length,
          kinds: part === 0 ? countKinds(found.events) : [],
          eraseAt,
        },
      }),
    )
    await append(facts)
    return recordOf(erasureId)
  }

  async function undo(id: string): Promise<UndoOutcome> {
    const row = queries.byId(id)
    if (!row) return { status: 'unknown' }
    const parts = partsOf(queries.hiddenSeqs(id))
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
    const result = row.status === 'pending' ? await append(facts) : null
    dueMs.delete(id)
    const erasure = recordOf(id)
    return { status: result?.status === 'appended' ? 'undone' : 'too_late', erasure }
  }

  /** From its beginning it cannot be undone; after a crash it is begun again, which changes nothing but the rest. */
  async function carryOut(row: ErasureRow): Promise<void> {
    const { erasureId, requestedSeq, target, targetId } = row
    const by = { actor: 'service', channel: 'system', causedBy: requestedSeq } as const
    if (row.status === 'pending') {
      const begun = await append([
        { type: 'erasure.started', ...by, key: endKey(erasureId), facts: { erasureId } },
      ])
      if (begun.status !== 'appended') return
    }
    const hidden = queries.hiddenSeqs(erasureId)
    // With what an earlier run may have erased before it was cut off: the receipt tells of all that went.
    const seqs = [...new Set([...hidden, ...(await erasure.plan(hidden))])].sort((a, b) => a - b)
    const events = options.wholeLedger.readSeqs(seqs)
    if (target === 'memory' && targetId !== null) await options.forgetMemory(targetId)
    await options.removeAdaptationFiles(seqs)
    // Also where no words are left: they may still stand in a file.
    await erasure.erase(seqs, target === 'note' ? 'note_deleted' : 'owner')
    await append([
      {
        type: 'erasure.completed',
        ...by,
        key: `erasure-completed:${erasureId}`,
        facts: { erasureId, erased: events.length, kinds: countKinds(events) },
      },
    ])
  }

  /** At its moment; where the clock was ahead of it and is set right, a minute from then. */
  function dueMsOf({ erasureId, eraseAt }: ErasureRow): number {
    const due = Math.min(dueMs.get(erasureId) ?? Date.parse(eraseAt), nowMs() + UNDO_MS)
    dueMs.set(erasureId, due)
    return due
  }

  async function look(): Promise<void> {
    for (const row of queries.unfinished()) {
      if (closed) return
      if (row.status === 'pending' && dueMsOf(row) > nowMs()) continue
      await inTurn(() => carryOut(row))
      dueMs.delete(row.erasureId)
    }
  }

  function arm(): void {
    if (closed || alarm !== undefined || queries.unfinished().length === 0) return
    alarm = setTimeout(() => {
      alarm = undefined
      running = look().catch(options.onFault).finally(arm)
    }, LOOK_AGAIN_MS)
    alarm.unref()
  }

  function recordOf(id: string): ErasureRecord {
    const row = queries.byId(id)
    if (!row) throw new Error(`erasure ${id} is not in the views right after its fact`)
    return toRecord(row)
  }

  return {
    plan,
    request: (target) => inTurn(() => request(target)),
    undo: (id) => inTurn(() => undo(id)),
    get(id) {
      const row = queries.byId(id)
      return row && toRecord(row)
    },
    list(beforeSeq, limit) {
      const rows = queries.page(beforeSeq ?? Number.MAX_SAFE_INTEGER, limit + 1)
      const shown = rows.slice(0, limit)
      const nextSeq = rows.length > limit ? (shown.at(-1)?.requestedSeq ?? null) : null
      return { erasures: shown.map(toRecord), nextSeq }
    },
    start() {
      unsubscribe = options.onHeadMoved(arm, ['erasure'])
      running = look().catch(options.onFault).finally(arm)
    },
    async close() {
      closed = true
      unsubscribe?.()
      clearTimeout(alarm)
      await running
    },
  }
}

/** Undoing and beginning exclude one another: the key is taken by whichever is first. */
function endKey(erasureId: string): string {
  return `erasure-ended:${erasureId}`
}

function partsOf(seqs: readonly number[]): number[][] {
  const parts: number[][] = []
  for (let start = 0; start < seqs.length; start += SEQS_A_FACT)
    parts.push(seqs.slice(start, start + SEQS_A_FACT))
  return parts.length > 0 ? parts : [[]]
}

function groupsOf(events: Parameters<typeof countKinds>[0]): PlanGroup[] {
  return countKinds(events).map(({ kind, count }) => {
    const items: PlanItem[] = []
    for (const event of events) {
      const text = kindOf(event) === kind && items.length < ITEMS_A_GROUP ? excerptOf(event) : null
      if (text !== null) items.push({ seq: event.seq, at: event.at, text })
    }
    return { kind, count, items }
  })
}

function toRecord(row: ErasureRow): ErasureRecord {
  const { erasureId: id, target: kind, targetId, fromAt: from, toAt: to } = row
  const { status, requestedAt, eraseAt, endedAt, events } = row
  return { id, kind, targetId, from, to, status, requestedAt, eraseAt, endedAt, events, kinds: kindsOf(row) }
}
