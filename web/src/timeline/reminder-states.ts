import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { isErased } from './event-kinds.ts'

/** `over`: it was cancelled or erased, or its timer was due again. */
export type ReminderState =
  | { readonly kind: 'open' | 'done' | 'over' }
  | { readonly kind: 'snoozed'; readonly until: string }

/** One occurrence of a timer. */
export type Reminder = { readonly id: string; readonly occurrence: string }

/** The occurrence that a reminder on the timeline is about; null for any other event. */
export function reminderOf(event: TimelineEvent): Reminder | null {
  const { timerId, occurrence } = event.payload
  if (event.type !== 'timer.fired' || isErased(event)) return null
  return typeof timerId === 'string' && typeof occurrence === 'string' ? { id: timerId, occurrence } : null
}

/** What became of reminders, from the events after them, in any order of arrival. */
export function createReminderStates() {
  const settled = new Map<string, ReminderState>()
  /** The seq of the last reminder of each timer. */
  const lastSeqs = new Map<unknown, number>()
  const cancelled = new Set<unknown>()
  const keyOf = (id: unknown, occurrence: unknown) => `${id} ${occurrence}`

  /** By whatever came after it. */
  const stateOf = ({ id, occurrence }: Reminder): ReminderState | undefined =>
    settled.get(keyOf(id, occurrence)) ?? (cancelled.has(id) ? { kind: 'over' } : undefined)

  return {
    /** Whether nothing has settled it yet, as far as is loaded. */
    isOpen: (reminder: Reminder): boolean => stateOf(reminder) === undefined,
    take({ type, seq, payload }: TimelineEvent): void {
      const { timerId, occurrence, snoozes, dueAt } = payload
      if (type === 'timer.done') settled.set(keyOf(timerId, occurrence), { kind: 'done' })
      if (type === 'timer.cancelled') cancelled.add(timerId)
      if (type === 'timer.fired' || (type === 'timer.missed' && Number(payload.missed) > 0))
        lastSeqs.set(timerId, Math.max(seq, lastSeqs.get(timerId) ?? 0))
      if (type !== 'timer.set' || typeof snoozes !== 'object' || snoozes === null) return
      const key = keyOf(Reflect.get(snoozes, 'timerId'), Reflect.get(snoozes, 'occurrence'))
      settled.set(key, { kind: 'snoozed', until: String(dueAt) })
    },
    of(event: TimelineEvent): ReminderState {
      const reminder = reminderOf(event)
      if (reminder === null) return { kind: 'over' }
      const known = stateOf(reminder)
      if (known) return known
      return { kind: lastSeqs.get(reminder.id) === event.seq ? 'open' : 'over' }
    },
  }
}
