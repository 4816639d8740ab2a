import pLimit from 'p-limit'
import type { NewEvent, NewEventOf } from '../../ledger/event.ts'
import { holdsWords, toMatch } from '../../projections/search-text.ts'
import {
  createTimerQueries,
  openOccurrence,
  type TimerPlace,
  type TimerRow,
} from '../../projections/timers.ts'
import { DAY_MS } from '../lib/time.ts'
import type { Origin } from '../model/tool.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { createFiring, LATE_MS } from './firing.ts'
import { checkPace, countedFrom, isBeyondEnd, nextOccurrence } from './schedule.ts'
import { cancelled, createTimerWords } from './timer-words.ts'

export type Timer = Pick<
  TimerRow,
  | 'setSeq'
  | 'status'
  | 'dueAt'
  | 'recurrence'
  | 'timezone'
  | 'missedPolicy'
  | 'by'
  | 'createdAt'
  | 'lastFiredAt'
  | 'settled'
> & {
  readonly id: string
  readonly title: string
  /** The last occurrence, for two weeks, while it is neither done nor snoozed. */
  readonly open: string | null
  /** The occurrence that this timer reminds of again. */
  readonly snoozes: { readonly timerId: string; readonly occurrence: string } | null
}

export type NewTimer = {
  readonly title: string
  /** A single moment, or null for the first occurrence of `recurrence`. */
  readonly dueAt: Date | null
  /** A cron expression in the owner's time zone, with a step such as `4%2` counted from `dueAt`. */
  readonly recurrence: string | null
  readonly missedPolicy?: TimerRow['missedPolicy'] | undefined
  /** Some of the title was pasted on the page. */
  readonly isPasted?: boolean
}

/** What is absent stays. A new recurrence alone sets the next occurrence, too. */
export type TimerChange = {
  readonly title?: string | undefined
  /** The next occurrence. */
  readonly dueAt?: Date | undefined
  /** Null: once. */
  readonly recurrence?: string | null | undefined
  readonly isPasted?: boolean | undefined
}

export type TimerOrigin = Origin & { readonly by: TimerRow['by'] }

export type SetOutcome =
  | { readonly status: 'set'; readonly timer: Timer }
  | { readonly status: 'refused'; readonly reason: 'past' | 'never' }

export type ChangeOutcome = SetOutcome | { readonly status: 'refused'; readonly reason: 'over' | 'not_due' }

/** How long an occurrence is listed as due. What nobody has ticked off by then is history. */
const DUE_MS = 14 * DAY_MS

export type Timers = ReturnType<typeof createTimers>

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
  const { append, ledger, views } = options.storage
  const queries = createTimerQueries(views)
  const words = createTimerWords(ledger)
  const inTurn = pLimit(1)
  const firing = createFiring({ ...options, queries, words, inTurn })

  const dueSince = () => new Date(nowMs() - DUE_MS).toISOString()

  function toTimer(row: TimerRow): Timer {
    const { setSeq, status, dueAt, recurrence, timezone, missedPolicy, by, createdAt, lastFiredAt } = row
    const { settled, snoozesId, snoozesOccurrence } = row
    const snoozes =
      snoozesId === null || snoozesOccurrence === null
        ? null
        : { timerId: snoozesId, occurrence: snoozesOccurrence }
    return {
      ...{ id: row.timerId, title: words.titleOf(row), setSeq, status, dueAt, recurrence, timezone },
      ...{
        missedPolicy,
        by,
        createdAt,
        lastFiredAt,
        open: openOccurrence(row, dueSince()),
        settled,
        snoozes,
      },
    }
  }

  const isPast = (at: Date) => at.getTime() <= nowMs() - LATE_MS

  async function appendSet(event: NewEventOf<'timer.set'>): Promise<SetOutcome> {
    const result = await append([event])
    const set = result.status === 'appended' ? result.events[0] : result.existing
    const row = set?.type === 'timer.set' ? queries.byId(set.facts.timerId) : undefined
    if (!row) throw new Error('the views lack a timer that was just set')
    return { status: 'set', timer: toTimer(row) }
  }

  /** Throws InvalidRecurrence for an expression that cannot be read. */
  async function set(
    { title, dueAt, recurrence, missedPolicy = 'fire_once', isPasted = false }: NewTimer,
    { by, ...envelope }: TimerOrigin,
  ): Promise<SetOutcome> {
    const timezone = options.timezone()
    const next = recurrence === null ? null : nextOccurrence(recurrence, timezone, new Date(nowMs()))
    const first = dueAt ?? next
    if (!first || isBeyondEnd(first, recurrence, timezone)) return { status: 'refused', reason: 'never' }
    if (recurrence !== null) checkPace(recurrence)
    if (isPast(first)) return { status: 'refused', reason: 'past' }
    const counted = recurrence && countedFrom(first, recurrence, timezone)
    const when = { dueAt: first.toISOString(), recurrence: counted, timezone }
    return appendSet({
      ...{ type: 'timer.set', actor: by, ...envelope, body: { title } },
      facts: { timerId: newId(), ...when, missedPolicy, by, ...(isPasted && { pasted: true }) },
    })
  }

  /** Throws InvalidRecurrence. A timer that is over, or whose words are erased, cannot be changed. */
  async function change(
    id: string,
    { title, dueAt, recurrence, isPasted = false }: TimerChange,
    { by, ...envelope }: TimerOrigin,
  ): Promise<ChangeOutcome> {
    const row = queries.byId(id)
    if (row?.status !== 'active' || words.stateOf(row) !== 'readable')
      return { status: 'refused', reason: 'over' }
    const isMoved = dueAt !== undefined || (recurrence !== undefined && recurrence !== row.recurrence)
    const timezone = isMoved ? options.timezone() : row.timezone
    const repeats = recurrence === undefined ? row.recurrence : recurrence
    const next =
      isMoved && repeats !== null ? nextOccurrence(repeats, timezone, new Date(nowMs())) : new Date(row.dueAt)
    if (isMoved && repeats !== null) checkPace(repeats)
    const due = dueAt ?? next
    if (!due || isBeyondEnd(due, repeats, timezone)) return { status: 'refused', reason: 'never' }
    if (isMoved && isPast(due)) return { status: 'refused', reason: 'past' }
    const old = words.titleOf(row)
    const counted = repeats && countedFrom(due, repeats, timezone)
    const changed = { title: title ?? old, dueAt: due.toISOString(), recurrence: counted }
    const isSame =
      changed.title === old && changed.dueAt === row.dueAt && changed.recurrence === row.recurrence
    if (isSame) return { status: 'set', timer: toTimer(row) }
    const { title: newTitle, ...when } = changed
    await append([
      {
        ...{ type: 'timer.changed', actor: by, ...envelope, body: { title: newTitle } },
        // A new title may keep words of the old one.
        derivedFrom: [...(envelope.derivedFrom ?? []), row.setSeq],
        facts: { timerId: id, ...when, timezone, by, ...(isPasted && { pasted: true }) },
      },
    ])
    return { status: 'set', timer: toTimer(queries.byId(id) ?? row) }
  }

  /** Reminds again of an open occurrence, the last one by default. Repeated, it returns the first snooze. */
  async function snooze(
    id: string,
    until: Date,
    { by, ...envelope }: TimerOrigin,
    occurrence?: string,
  ): Promise<ChangeOutcome> {
    const row = queries.byId(id)
    const at = occurrence ?? row?.occurrence
    if (!row || !at) return { status: 'refused', reason: 'not_due' }
    const known = queries.snoozeOf(id, at)
    if (known) return { status: 'set', timer: toTimer(known) }
    if (openOccurrence(row) !== at || words.stateOf(row) !== 'readable')
      return { status: 'refused', reason: 'over' }
    if (isPast(until)) return { status: 'refused', reason: 'past' }
    const timezone = options.timezone()
    const when = {
      dueAt: until.toISOString(),
      recurrence: null,
      timezone,
      missedPolicy: 'fire_once',
    } as const
    return appendSet({
      ...{ type: 'timer.set', actor: by, key: `timer-snoozed:${id}:${at}`, ...envelope },
      body: { title: words.titleOf(row) },
      derivedFrom: [...(envelope.derivedFrom ?? []), row.setSeq],
      facts: { timerId: newId(), ...when, by, snoozes: { timerId: id, occurrence: at } },
    })
  }

  /** Ticks off an occurrence, the last one by default. One that is no longer open stays as it is. */
  async function done(
    id: string,
    { by, ...envelope }: TimerOrigin,
    occurrence?: string,
  ): Promise<'done' | 'not_due'> {
    const row = queries.byId(id)
    if (!row || row.occurrence === null) return 'not_due'
    const open = openOccurrence(row)
    if (open === null || (occurrence ?? open) !== open) return 'done'
    const key = `timer-done:${id}:${open}`
    const facts = { timerId: id, occurrence: open, by }
    await append([{ ...{ type: 'timer.done', actor: by, ...envelope, key }, facts }])
    return 'done'
  }

  /** Cancels all of them. If one is no longer active, cancels none and returns false. */
  async function cancel(ids: readonly string[], { by, ...envelope }: TimerOrigin): Promise<boolean> {
    const rows = ids.flatMap((id) => queries.byId(id) ?? [])
    if (rows.length < ids.length || rows.some(({ status }) => status !== 'active')) return false
    const result = await append(
      rows.map((row): NewEvent => ({ actor: by, ...envelope, ...cancelled(row, by) })),
    )
    return result.status === 'appended'
  }

  const alone =
    <A extends readonly unknown[], R>(act: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      inTurn(() => act(...args))

  return {
    set,
    change: alone(change),
    snooze: alone(snooze),
    done: alone(done),
    cancel: alone(cancel),
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
    /** Timers that fired or were missed in the last two weeks and are neither done nor snoozed, latest first. */
    open: (limit: number) => queries.open(dueSince(), limit).map(toTimer),
    /** All timers to come, soonest first. */
    active: () => queries.active().map(toTimer),
    /** Fires overdue timers, then each timer when it is due. */
    start: firing.start,
    close: firing.close,
  }
}
