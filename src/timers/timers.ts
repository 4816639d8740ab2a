import type { Database } from 'better-sqlite3'
import type { Append, Appended, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { createTimerQueries, type TimerPlace, type TimerRow } from '../../projections/timers.ts'
import { createReactor } from '../lib/reactor.ts'
import { signalFact } from '../lib/signals.ts'
import { formatLocal } from '../lib/time.ts'
import type { Origin } from '../model/tool.ts'
import { checkPace, firstOccurrence, missedSince, nextOccurrence } from './schedule.ts'

export type Timer = Omit<TimerRow, 'timerId' | 'dueSeq' | 'conversationId'> & {
  readonly id: string
  readonly title: string
}

export type NewTimer = {
  readonly title: string
  /** A single moment, or null for the first occurrence of `recurrence`. */
  readonly dueAt: Date | null
  /** A cron expression in the owner's time zone. */
  readonly recurrence: string | null
  readonly missedPolicy?: TimerRow['missedPolicy'] | undefined
}

export type TimerOrigin = Origin & { readonly by: TimerRow['by'] }

export type SetOutcome =
  | { readonly status: 'set'; readonly timer: Timer }
  | { readonly status: 'refused'; readonly reason: 'past' | 'never' }

export type Timers = {
  /** Throws InvalidRecurrence for an expression that cannot be read. */
  set(timer: NewTimer, origin: TimerOrigin): Promise<SetOutcome>
  /** Cancels all of them. If one is no longer active, cancels none and returns false. */
  cancel(ids: readonly string[], origin: TimerOrigin): Promise<boolean>
  get(id: string): Timer | undefined
  /** Active timers first, soonest first; then finished ones, latest first. Starts behind `after`. */
  list(limit: number, after?: TimerPlace | null): Timer[]
  /** Fires overdue timers, then each timer when it is due. */
  start(): void
  close(): Promise<void>
}

/** An occurrence this late was missed: the service was down or the machine asleep. */
const LATE_MS = 60_000
const ALREADY_SHOWN = 'The owner already sees this reminder.'
/** Clocks jump, so check at least this often. */
const CHECK_EVERY_MS = 30_000

export function createTimers(options: {
  readonly append: Append
  /** Appends to the open conversation; starts one if none is open. */
  readonly appendToConversation: (
    compose: (conversationId: string) => readonly NewEvent[],
  ) => Promise<Appended>
  readonly ledger: LedgerReader
  readonly views: Database
  readonly onHeadMoved: SubscribeHead
  readonly timezone: () => string
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}): Timers {
  const { append, ledger, nowMs, newId } = options
  const queries = createTimerQueries(options.views)
  /** Wall clock at the last check; unknown before the first. */
  let checkedAtMs = Number.POSITIVE_INFINITY
  const reactor = createReactor<TimerRow | 'clock'>({
    onHeadMoved: options.onHeadMoved,
    areas: ['timer'],
    next(isTaken) {
      const now = nowMs()
      if (now < checkedAtMs - LATE_MS) return 'clock'
      checkedAtMs = now
      return queries
        .due(new Date(now).toISOString())
        .find((row) => !isTaken(row.timerId) && stateOf(row) !== 'hidden')
    },
    laneOf: (work) => (work === 'clock' ? work : work.timerId),
    run: (work) => (work === 'clock' ? rescheduleAfterClockFix() : fire(work)),
    dueInMs() {
      const nextDueAt = queries.nextDueAt()
      return nextDueAt === null ? CHECK_EVERY_MS : Math.min(CHECK_EVERY_MS, Date.parse(nextDueAt) - nowMs())
    },
    onFault: options.onFault,
  })

  function toTimer(row: TimerRow): Timer {
    const { timerId, dueSeq: _due, conversationId: _conversation, ...rest } = row
    return { ...rest, id: timerId, title: titleOf(row) }
  }

  function titleOf({ setSeq }: TimerRow): string {
    const [event] = ledger.readSeqs([setSeq])
    return event?.type === 'timer.set' ? (event.body?.title ?? '') : ''
  }

  /** Cancels a timer whose words were forgotten. */
  async function giveUp({ timerId, setSeq, conversationId }: TimerRow): Promise<void> {
    await append([
      {
        type: 'timer.cancelled',
        conversationId,
        channel: 'inner',
        actor: 'service',
        causedBy: setSeq,
        key: `timer-cancelled:${timerId}`,
        facts: { timerId, by: 'owner', setSeq },
      },
    ])
  }

  /** Not keyed by time alone: after a clock was set back, the same time can come up again. */
  const missedKey = ({ timerId, dueSeq }: TimerRow): string => `timer-missed:${timerId}:${dueSeq}`

  const firedSeq = (timerId: string, at: string) => ledger.rowByKey(`timer-fired:${timerId}:${at}`)?.seq

  /** `hidden`: the words wait to be erased, and may still be restored. */
  function stateOf({ setSeq }: TimerRow): 'readable' | 'hidden' | 'erased' {
    const [set] = ledger.readSeqs([setSeq])
    if (!set?.erased) return 'readable'
    return ledger.rowAt(setSeq)?.body == null ? 'erased' : 'hidden'
  }

  /** Fires the last occurrence that is due, once. */
  async function fire(row: TimerRow): Promise<void> {
    if (stateOf(row) === 'erased') return giveUp(row)
    const now = new Date(nowMs())
    const { passed, last, nextAt } = missedSince(row, now)
    const isLate = now.getTime() - Date.parse(last) > LATE_MS
    const isSkipped = isLate && row.missedPolicy === 'skip'
    // It already fired while the clock was ahead, so the owner is not reminded again.
    const isRepeat = (firedSeq(row.timerId, last) ?? row.dueSeq) < row.dueSeq
    const missed = isSkipped ? passed : passed - 1
    await options.appendToConversation((conversationId) => {
      const place = { ...copyOf(row), conversationId }
      const facts: NewEvent[] = []
      if (missed > 0 || isRepeat) {
        const nextOfMissed = isSkipped || isRepeat ? nextAt : last
        facts.push({
          type: 'timer.missed',
          ...place,
          key: missedKey(row),
          facts: { timerId: row.timerId, occurrence: row.dueAt, missed, nextAt: nextOfMissed },
        })
      }
      if (!isSkipped && !isRepeat) {
        facts.push({
          type: 'timer.fired',
          ...place,
          key: `timer-fired:${row.timerId}:${last}`,
          facts: { timerId: row.timerId, occurrence: last, nextAt },
        })
        facts.push(dueSignal(place, { timerId: row.timerId, occurrence: last, isLate }))
      }
      return facts
    })
  }

  function copyOf(row: TimerRow) {
    return {
      channel: 'inner',
      actor: 'service',
      causedBy: row.setSeq,
      derivedFrom: [row.setSeq],
      body: { text: titleOf(row) },
    } as const
  }

  function dueSignal(
    { causedBy, derivedFrom, body }: ReturnType<typeof copyOf>,
    { timerId, occurrence, isLate }: { timerId: string; occurrence: string; isLate: boolean },
  ): NewEvent {
    const due = formatLocal(new Date(occurrence), options.timezone())
    const late = isLate ? ` It was due on ${due} and is late because I was not running.` : ''
    return signalFact(
      {
        kind: 'timer_due',
        mode: 'wake',
        priority: 5,
        dedupKey: `timer:${timerId}:${occurrence}`,
        text: `The timer “${body.text}” is due.${late} ${ALREADY_SHOWN}`,
        causedBy,
        derivedFrom,
      },
      newId(),
    )
  }

  /**
   * Once a clock that was ahead is corrected, recurring timers would stay silent until it catches up. Moves
   * each back to its first occurrence that has not fired.
   */
  async function rescheduleAfterClockFix(): Promise<void> {
    const now = nowMs()
    for (const row of queries.active()) {
      const nextAt = earlierThanDue(row, new Date(now))
      if (nextAt === null) continue
      await append([
        {
          type: 'timer.missed',
          ...copyOf(row),
          conversationId: row.conversationId,
          key: missedKey(row),
          facts: { timerId: row.timerId, occurrence: row.dueAt, missed: 0, nextAt },
        },
      ])
    }
    checkedAtMs = now
  }

  function earlierThanDue(
    { timerId, setSeq, dueAt, recurrence, timezone }: TimerRow,
    now: Date,
  ): string | null {
    const [set] = recurrence === null ? [] : ledger.readSeqs([setSeq])
    if (recurrence === null || set?.type !== 'timer.set') return null
    const setAt = new Date(set.at)
    const isAsSet = set.facts.dueAt === dueAt
    const wasSetAhead = setAt > now && nextOccurrence(recurrence, timezone, setAt)?.toISOString() === dueAt
    // Keep a first occurrence that was requested explicitly.
    if (isAsSet && !wasSetAhead) return null
    const hasFired = (at: string) => firedSeq(timerId, at) !== undefined
    const next = firstOccurrence({ recurrence, timezone }, { after: now, before: new Date(dueAt) }, hasFired)
    return next?.toISOString() ?? null
  }

  return {
    async set({ title, dueAt, recurrence, missedPolicy = 'fire_once' }, origin) {
      const now = new Date(nowMs())
      const timezone = options.timezone()
      const first = dueAt ?? (recurrence === null ? null : nextOccurrence(recurrence, timezone, now))
      if (!first) return { status: 'refused', reason: 'never' }
      if (recurrence !== null) {
        nextOccurrence(recurrence, timezone, now)
        checkPace(recurrence)
      }
      if (first.getTime() <= now.getTime() - LATE_MS) return { status: 'refused', reason: 'past' }
      const { by, ...envelope } = origin
      const timerId = newId()
      const result = await append([
        {
          type: 'timer.set',
          actor: by,
          ...envelope,
          facts: { timerId, dueAt: first.toISOString(), recurrence, timezone, missedPolicy, by },
          body: { title },
        },
      ])
      const event = result.status === 'appended' ? result.events[0] : result.existing
      const row = event?.type === 'timer.set' ? queries.byId(event.facts.timerId) : undefined
      if (!row) throw new Error('the views lack a timer that was just set')
      return { status: 'set', timer: toTimer(row) }
    },
    async cancel(ids, { by, ...envelope }) {
      const rows = ids.flatMap((id) => queries.byId(id) ?? [])
      if (rows.length < ids.length || rows.some(({ status }) => status !== 'active')) return false
      const result = await append(
        rows.map(
          ({ timerId, setSeq }): NewEvent => ({
            type: 'timer.cancelled',
            actor: by,
            ...envelope,
            key: `timer-cancelled:${timerId}`,
            facts: { timerId, by, setSeq },
          }),
        ),
      )
      return result.status === 'appended'
    },
    get(id) {
      const row = queries.byId(id)
      return row && toTimer(row)
    },
    list: (limit, after = null) => queries.page(limit, after).map(toTimer),
    start: reactor.start,
    close: reactor.close,
  }
}
