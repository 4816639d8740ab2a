import { html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { keyed } from 'lit/directives/keyed.js'
import type { NewTimer, Timer } from '../../../src/http/contract/timers.ts'
import { type Form, FormDialog, textIn } from '../app/form-dialog.ts'
import { choiceView, fieldView, isPaste } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { wallMinute } from '../design/owner-time.ts'
import { lastDayOf, recurrenceText } from './recurrence.ts'

type Repeat = 'once' | 'daily' | 'weekdays' | 'weekly' | 'fortnightly' | 'monthly' | 'yearly' | 'cron'

const repeats: readonly (readonly [Repeat, string])[] = [
  ['once', msg`Once`],
  ['daily', msg`Every day`],
  ['weekdays', msg`Every weekday`],
  ['weekly', msg`Every week on that day`],
  ['fortnightly', msg`Every two weeks on that day`],
  ['monthly', msg`Every month on that date`],
  ['yearly', msg`Every year on that date`],
  ['cron', msg`Cron expression`],
]

/** Sets a new timer, or changes one. */
@customElement('dg-timer-dialog')
export class DgTimerDialog extends FormDialog {
  @property({ attribute: false }) onSet: () => unknown = () => undefined
  /** The timer to change; null for a new one. */
  @property({ attribute: false }) timer: Timer | null = null
  @state() private repeat: Repeat = 'once'
  @state() private cron = ''
  /** Some of the title may be the words of others. */
  private isPasted = false

  override connectedCallback(): void {
    super.connectedCallback()
    if (!this.timer) return
    this.repeat = repeatOf(this.timer)
    this.cron = this.timer.recurrence ?? ''
  }

  protected override submit(data: FormData): Promise<boolean> {
    const { repeat } = this
    const title = textIn(data, 'title')
    const at = textIn(data, 'at')
    const recurrence = textIn(data, 'recurrence')
    const lastDay = textIn(data, 'until')
    return this.submission.send(
      async () => {
        const wanted = {
          title,
          pasted: this.isPasted,
          ...momentOf(repeat, at, recurrence, lastDay),
        }
        if (this.timer) await this.change(this.timer, wanted)
        else
          await this.set({
            ...wanted,
            missedPolicy: textIn(data, 'missed') === 'skip' ? 'skip' : 'fire_once',
          })
        this.onSet()
      },
      {
        title: title === '' && msg`Enter what it is for.`,
        at: at === '' && repeat !== 'cron' && msg`Choose a date and time.`,
        recurrence: recurrence === '' && repeat === 'cron' && msg`Enter an expression such as 0 9 * * 1-5.`,
        until: lastDay !== '' && lastDay < at.slice(0, 10) && msg`Choose the same day or a later one.`,
      },
    )
  }

  private async set(body: NewTimer): Promise<void> {
    await this.app.http.post('/api/timers', { body })
    this.app.toast(msg`Reminder set`)
  }

  /** Leaves out a time that was not edited: the field has no seconds. */
  private async change(timer: Timer, { at, recurrence, ...rest }: NewTimer): Promise<void> {
    const repeats = recurrence ?? null
    const isLater = at !== wallMinute(new Date(timer.dueAt))
    // Every other week counts from the day that is chosen.
    const isOther = repeats !== timer.recurrence && (isLater || repeats !== uncounted(timer.recurrence ?? ''))
    const isMoved = isOther || isLater
    const body = {
      ...rest,
      ...(isMoved && at !== undefined && { at }),
      ...(isOther && { recurrence: repeats }),
    }
    await this.app.http.put('/api/timers/{id}', { params: { id: timer.id }, body })
    this.app.toast(msg`Reminder changed`)
  }

  /** The fields that depend on how often the timer fires, and the description of a cron expression. */
  private readonly typed = (event: InputEvent): void => {
    const { target } = event
    if (target instanceof HTMLInputElement && target.name === 'title')
      this.isPasted = target.value !== '' && (this.isPasted || isPaste(event.inputType))
    if (target instanceof HTMLInputElement && target.name === 'recurrence') this.cron = target.value
    if (!(target instanceof HTMLSelectElement) || target.name !== 'repeat') return
    this.repeat = repeats.find(([value]) => value === target.value)?.[0] ?? 'once'
    this.submission.show({})
  }

  protected override form(): Form {
    const { timer, submission } = this
    const { errors } = submission
    return {
      heading: timer ? msg`Change this reminder` : msg`Set a reminder`,
      action: timer ? [msg`Save`, msg`Saving…`] : [msg`Set reminder`, msg`Setting…`],
      fields: html`<div class="form" @input=${this.typed}>
        ${fieldView({
          name: 'title',
          label: msg`What for`,
          value: timer?.title ?? '',
          placeholder: msg`Water the plants`,
          error: errors.title,
        })}
        ${choiceView('repeat', msg`How often`, repeats, this.repeat)}
        ${keyed(this.repeat === 'cron', this.repeat === 'cron' ? this.cronView() : this.momentView())}
        ${this.repeat === 'cron' || this.repeat === 'once' ? nothing : this.untilView()}
        ${
          timer
            ? nothing
            : choiceView('missed', msg`If Delegate is off at that moment`, [
                ['fire_once', msg`Fire once when it is back`],
                ['skip', msg`Skip it`],
              ])
        }
      </div>`,
    }
  }

  private momentView() {
    return fieldView({
      name: 'at',
      label: this.repeat === 'once' ? msg`When` : this.timer ? msg`Next time` : msg`First time`,
      type: 'datetime-local',
      value: this.timer ? wallMinute(new Date(this.timer.dueAt)) : '',
      hint: msg`In your time zone from Settings`,
      error: this.submission.errors.at,
    })
  }

  private untilView() {
    return fieldView({
      name: 'until',
      label: msg`Last day`,
      type: 'date',
      value: lastDayOf(this.timer?.recurrence ?? '').lastDay,
      hint: msg`Leave it empty to repeat until you cancel.`,
      error: this.submission.errors.until,
    })
  }

  private cronView() {
    const words = recurrenceText(this.cron)
    return fieldView({
      name: 'recurrence',
      label: msg`Cron expression`,
      value: this.cron,
      placeholder: '0 9 * * 1-5',
      hint: words === this.cron ? msg`Minute, hour, day, month, weekday` : words,
      error: this.submission.errors.recurrence,
    })
  }
}

/** `4%2` of `4%2+1`: the day that it counts from follows from the moment. */
const uncounted = (recurrence: string) => recurrence.replace(/(%\d+)\+\d+/g, '$1')

/** The choice that repeats a timer as it does. */
function repeatOf({ recurrence, dueAt }: Timer): Repeat {
  if (recurrence === null) return 'once'
  const at = wallMinute(new Date(dueAt))
  const presets = ['daily', 'weekdays', 'weekly', 'fortnightly', 'monthly', 'yearly'] as const
  const { expression } = lastDayOf(uncounted(recurrence))
  return presets.find((repeat) => cronOf(repeat, at) === expression) ?? 'cron'
}

function momentOf(
  repeat: Repeat,
  at: string,
  recurrence: string,
  lastDay: string,
): Pick<NewTimer, 'at' | 'recurrence'> {
  if (repeat === 'cron') return { recurrence }
  const ending = lastDay === '' ? '' : ` until ${lastDay}`
  return repeat === 'once' ? { at } : { at, recurrence: `${cronOf(repeat, at)}${ending}` }
}

/** The cron expression that repeats a local time such as 2026-03-01T09:05. */
function cronOf(repeat: Exclude<Repeat, 'once' | 'cron'>, at: string): string {
  const [date = '', time = ''] = at.split('T')
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  const [month = 1, day = 1] = date.split('-').slice(1).map(Number)
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay()
  const days = {
    daily: '* * *',
    weekdays: '* * 1-5',
    weekly: `* * ${weekday}`,
    fortnightly: `* * ${weekday}%2`,
    // Five months have no 31st.
    monthly: `${day === 31 ? 'L' : day} * *`,
    yearly: `${day} ${month} *`,
  }[repeat]
  return `${minute} ${hour} ${days}`
}
