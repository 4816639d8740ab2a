import type { Snooze } from '../../../src/http/contract/timers.ts'
import type { App } from '../app/app.ts'
import { momentText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import type { Reminder } from '../timeline/reminder-states.ts'

type Service = Pick<App, 'http' | 'toast'>

/** Ticks a reminder off. */
export async function tickOff({ http }: Service, { id, occurrence }: Reminder): Promise<void> {
  await http.post('/api/timers/{id}/done', { params: { id }, body: { occurrence } })
}

/** Snoozes a reminder, and says until when. */
export async function snooze(
  { http, toast }: Service,
  { id, occurrence }: Reminder,
  when: Pick<Snooze, 'minutes' | 'until'>,
): Promise<void> {
  const timer = await http.post('/api/timers/{id}/snooze', { params: { id }, body: { ...when, occurrence } })
  toast(msg`Snoozed until ${momentText(timer.dueAt)}`, 'timer')
}
