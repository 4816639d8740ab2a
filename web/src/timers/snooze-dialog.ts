import { customElement, property } from 'lit/decorators.js'
import type { AppElement } from '../app/app-element.ts'
import { type Form, FormDialog, textIn } from '../app/form-dialog.ts'
import { fieldView } from '../design/field.ts'
import { dayKey } from '../design/format.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import type { Reminder } from '../timeline/reminder-states.ts'
import { snooze } from './settle.ts'

/** When a morning begins. */
const morning = '09:00'

/** Snoozes a reminder until a time of the owner's choice. */
@customElement('dg-snooze-dialog')
export class DgSnoozeDialog extends FormDialog {
  @property({ attribute: false }) reminder!: Reminder

  protected override submit(data: FormData): Promise<boolean> {
    const until = textIn(data, 'until')
    return this.submission.send(() => snooze(this.app, this.reminder, { until }), {
      until: until === '' && msg`Choose a date and time.`,
    })
  }

  protected override form(): Form {
    return {
      heading: msg`Snooze until`,
      action: [msg`Snooze`, msg`Snoozing…`],
      fields: fieldView({
        name: 'until',
        label: msg`Remind again`,
        type: 'datetime-local',
        hint: msg`In your time zone from Settings`,
        error: this.submission.errors.until,
      }),
    }
  }
}

/** The choices of a menu that snoozes a reminder. */
export function snoozeItems(host: AppElement, reminder: Reminder): MenuItem[] {
  const item = (label: string, when: Parameters<typeof snooze>[2]): MenuItem => ({
    label,
    icon: 'timer',
    run: () => void host.app.attempt(() => snooze(host.app, reminder, when)),
  })
  return [
    item(msg`10 minutes`, { minutes: 10 }),
    item(msg`1 hour`, { minutes: 60 }),
    item(msg`Tomorrow morning`, { until: `${tomorrow()}T${morning}` }),
    {
      label: msg`Another time…`,
      icon: 'period',
      run: () => Object.assign(new DgSnoozeDialog(), { reminder }).openIn(host),
    },
  ]
}

/** The owner's next day, `YYYY-MM-DD`. */
function tomorrow(): string {
  const today = Date.parse(dayKey(new Date().toISOString()))
  return new Date(today + 86_400_000).toISOString().slice(0, 10)
}
