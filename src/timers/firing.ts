import type { LimitFunction } from 'p-limit'
import type { NewEvent } from '../../ledger/event.ts'
import type { createTimerQueries, TimerRow } from '../../projections/timers.ts'
import { createReactor } from '../lib/reactor.ts'
import { signalFact } from '../lib/signals.ts'
import { formatLocal } from '../lib/time.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { missedSince, nextOccurrence } from './schedule.ts'
import { cancelled, type TimerWords } from './timer-words.ts'

/** An occurrence this late was missed: the service was down or the machine asleep. */
export const LATE_MS = 60_000
const ALREADY_SHOWN = 'The owner already sees this reminder.'
/** Clocks jump, so check at least this often. */
const CHECK_EVERY_MS = 30_000

/** The reactor that fires each timer when it is due. */
export function createFiring(options: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'onHeadMoved'>
  readonly queries: ReturnType<typeof createTimerQueries>
  readonly words: TimerWords
  readonly placement: Pick<Placement, 'appendToConversation'>
  /** Nothing changes a timer while it fires. */
  readonly inTurn: LimitFunction
  readonly timezone: () => string
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}) {
  const { queries, words, inTurn, nowMs, newId } = options
  const { append, ledger, onHeadMoved } = options.storage
  const firedSeq = (timerId: string, at: string) => ledger.rowByKey(`timer-fired:${timerId}:${at}`)?.seq
  /** Wall clock at the last check; unknown before the first. */
  let checkedAtMs = Number.POSITIVE_INFINITY

  /** The row of a timer; undefined if it was changed or cancelled meanwhile. */
  function unlessChanged({ timerId, dueSeq }: TimerRow): TimerRow | undefined {
    const row = queries.byId(timerId)
    return row?.status === 'active' && row.dueSeq === dueSeq ? row : undefined
  }

  /** Fires the last occurrence that is due, once. */
  async function fire(due: TimerRow): Promise<void> {
    const row = unlessChanged(due)
    if (!row) return
    // Its words were forgotten.
    if (words.stateOf(row) === 'erased') {
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
      body: { text: words.titleOf(row) },
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
      await inTurn(async () => {
        if (unlessChanged(row))
          await append([{ ...copyOf(row), conversationId, ...missedOf(row, 0, nextAt) }])
      })
    }
    checkedAtMs = now.getTime()
  }

  /** Whether it waits for a first date of its own, later than the recurrence alone would give. */
  function isOwnFirst(row: TimerRow): boolean {
    const set = words.wordsOf(row)
    if (set?.facts.dueAt !== row.dueAt || set.facts.recurrence === null) return false
    const first = nextOccurrence(set.facts.recurrence, set.facts.timezone, new Date(set.at))
    return first?.toISOString() !== row.dueAt
  }

  return createReactor<TimerRow | 'clock'>({
    onHeadMoved,
    areas: ['timer'],
    next(isTaken) {
      const now = nowMs()
      if (now < checkedAtMs - LATE_MS) return 'clock'
      checkedAtMs = now
      return queries
        .due(new Date(now).toISOString())
        .find((row) => !isTaken(row.timerId) && words.stateOf(row) !== 'hidden')
    },
    laneOf: (work) => (work === 'clock' ? work : work.timerId),
    // Each jump of the clock is a step of its own.
    stepOf: (work) => (work === 'clock' ? checkedAtMs : work),
    run: (work) => (work === 'clock' ? rescheduleAfterClockFix() : inTurn(() => fire(work))),
    dueInMs() {
      const nextDueAt = queries.nextDueAt()
      return nextDueAt === null ? CHECK_EVERY_MS : Math.min(CHECK_EVERY_MS, Date.parse(nextDueAt) - nowMs())
    },
    onFault: options.onFault,
  })
}

/** Not keyed by time alone: after a clock was set back, the same time can come up again. */
function missedOf({ timerId, dueSeq, dueAt }: TimerRow, missed: number, nextAt: string | null) {
  const facts = { timerId, occurrence: dueAt, missed, nextAt }
  return { type: 'timer.missed', key: `timer-missed:${timerId}:${dueSeq}`, facts } as const
}
