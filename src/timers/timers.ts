import type { NewEvent } from '../../ledger/event.ts'
import { holdsWords, toMatch } from '../../projections/search-text.ts'
import { createTimerQueries, type TimerPlace, type TimerRow } from '../../projections/timers.ts'
import { createReactor } from '../lib/reactor.ts'
import { signalFact } from '../lib/signals.ts'
import { formatLocal } from '../lib/time.ts'
import type { Origin } from '../model/tool.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { checkPace, missedSince, nextOccurrence } from './schedule.ts'

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
  /** Some of the title was pasted on the page. */
  readonly isPasted?: boolean
}

export type TimerOrigin = Origin & { readonly by: TimerRow['by'] }

export type SetOutcome =
  | { readonly status: 'set'; readonly timer: Timer }
  | { readonly status: 'refused'; readonly reason: 'past' | 'never' }

export type Timers = ReturnType<typeof createTimers>

/** An occurrence this late was missed: the service was down or the machine asleep. */
const LATE_MS = 60_000
const ALREADY_SHOWN = 'The owner already sees this reminder.'
/** Clocks jump, so check at least this often. */
const CHECK_EVERY_MS = 30_000

/** Timers, and the reactor that fires each one when it is due. */
export function createTimers(options: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'views' | 'onHeadMoved'>
  readonly placement: Pick<Placement, 'appendToConversation'>
  readonly timezone: () => string
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}) {
  const { nowMs, newId } = options
  const { append, ledger, views, onHeadMoved } = options.storage
  const queries = createTimerQueries(views)
  /** Wall clock at the last check; unknown before the first. */
  let checkedAtMs = Number.POSITIVE_INFINITY
  const reactor = createReactor<TimerRow | 'clock'>({
    onHeadMoved,
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

  const firedSeq = (timerId: string, at: string) => ledger.rowByKey(`timer-fired:${timerId}:${at}`)?.seq

  /** `hidden`: the words wait to be erased, and may still be restored. */
  function stateOf({ setSeq }: TimerRow): 'readable' | 'hidden' | 'erased' {
    const [set] = ledger.readSeqs([setSeq])
    if (!set?.erased) return 'readable'
    return ledger.rowAt(setSeq)?.body == null ? 'erased' : 'hidden'
  }

  /** Fires the last occurrence that is due, once. */
  async function fire(row: TimerRow): Promise<void> {
    // Its words were forgotten.
    if (stateOf(row) === 'erased') {
      const { conversationId, setSeq: causedBy } = row
      const origin = { actor: 'service', channel: 'inner', conversationId, causedBy } as const
      await append([{ ...origin, ...cancelled(row, 'owner') }])
      return
    }
    const now = new Date(nowMs())
    const { passed, last, nextAt } = missedSince(row, now)
    const isLate = now.getTime() - Date.parse(last) > LATE_MS
    const isSkipped = isLate && row.missedPolicy === 'skip'
    // It already fired while the clock was ahead, so the owner is not reminded again.
    const isRepeat = (firedSeq(row.timerId, last) ?? row.dueSeq) < row.dueSeq
    const missed = isSkipped ? passed : passed - 1
    await options.placement.appendToConversation('inner', (conversationId) => {
      const place = { ...copyOf(row), conversationId }
      const facts: NewEvent[] = []
      if (missed > 0 || isRepeat)
        facts.push({ ...place, ...missedOf(row, missed, isSkipped || isRepeat ? nextAt : last) })
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

  /** Once a clock that was ahead is corrected, recurring timers would stay silent until it catches up. */
  async function rescheduleAfterClockFix(): Promise<void> {
    const now = new Date(nowMs())
    for (const row of queries.active()) {
      const { conversationId, dueAt, recurrence, timezone } = row
      const nextAt = recurrence && nextOccurrence(recurrence, timezone, now)?.toISOString()
      if (!nextAt || nextAt >= dueAt || isOwnFirst(row)) continue
      await append([{ ...copyOf(row), conversationId, ...missedOf(row, 0, nextAt) }])
    }
    checkedAtMs = now.getTime()
  }

  /** Whether it waits for a first date of its own, later than the recurrence alone would give. */
  function isOwnFirst({ setSeq, dueAt }: TimerRow): boolean {
    const [set] = ledger.readSeqs([setSeq])
    if (set?.type !== 'timer.set' || set.facts.dueAt !== dueAt || set.facts.recurrence === null) return false
    const first = nextOccurrence(set.facts.recurrence, set.facts.timezone, new Date(set.at))
    return first?.toISOString() !== dueAt
  }

  return {
    /** Throws InvalidRecurrence for an expression that cannot be read. */
    async set(
      { title, dueAt, recurrence, missedPolicy = 'fire_once', isPasted = false }: NewTimer,
      { by, ...envelope }: TimerOrigin,
    ): Promise<SetOutcome> {
      const now = new Date(nowMs())
      const timezone = options.timezone()
      const next = recurrence === null ? null : nextOccurrence(recurrence, timezone, now)
      const first = dueAt ?? next
      if (!first) return { status: 'refused', reason: 'never' }
      if (recurrence !== null) checkPace(recurrence)
      if (first.getTime() <= now.getTime() - LATE_MS) return { status: 'refused', reason: 'past' }
      const timerId = newId()
      const result = await append([
        {
          type: 'timer.set',
          actor: by,
          ...envelope,
          facts: {
            timerId,
            dueAt: first.toISOString(),
            recurrence,
            timezone,
            missedPolicy,
            by,
            ...(isPasted && { pasted: true }),
          },
          body: { title },
        },
      ])
      const event = result.status === 'appended' ? result.events[0] : result.existing
      const row = event?.type === 'timer.set' ? queries.byId(event.facts.timerId) : undefined
      if (!row) throw new Error('the views lack a timer that was just set')
      return { status: 'set', timer: toTimer(row) }
    },
    /** Cancels all of them. If one is no longer active, cancels none and returns false. */
    async cancel(ids: readonly string[], { by, ...envelope }: TimerOrigin): Promise<boolean> {
      const rows = ids.flatMap((id) => queries.byId(id) ?? [])
      if (rows.length < ids.length || rows.some(({ status }) => status !== 'active')) return false
      const result = await append(
        rows.map((row): NewEvent => ({ actor: by, ...envelope, ...cancelled(row, by) })),
      )
      return result.status === 'appended'
    },
    get(id: string): Timer | undefined {
      const row = queries.byId(id)
      return row && toTimer(row)
    },
    /**
     * Active timers first, soonest first; then finished ones, latest first. Starts behind `after`. With `words`, only
     * those whose title has them all.
     */
    list(limit: number, after: TimerPlace | null = null, words = ''): Timer[] {
      if (words.trim() === '') return queries.page(limit, after).map(toTimer)
      if (toMatch(words) === null) return []
      // The views do not have the titles, and nobody has many timers.
      const found = queries.page(-1, after).values().map(toTimer)
      return [...found.filter(({ title }) => holdsWords(words, title)).take(limit)]
    },
    /** Fires overdue timers, then each timer when it is due. */
    start: reactor.start,
    close: reactor.close,
  }
}

/** Not keyed by time alone: after a clock was set back, the same time can come up again. */
function missedOf({ timerId, dueSeq, dueAt }: TimerRow, missed: number, nextAt: string | null) {
  const facts = { timerId, occurrence: dueAt, missed, nextAt }
  return { type: 'timer.missed', key: `timer-missed:${timerId}:${dueSeq}`, facts } as const
}

function cancelled({ timerId, setSeq }: TimerRow, by: TimerRow['by']) {
  return {
    type: 'timer.cancelled',
    key: `timer-cancelled:${timerId}`,
    facts: { timerId, by, setSeq },
  } as const
}
