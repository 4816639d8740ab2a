import { css, html, LitElement, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { explain, type Http, Refused } from '../data/http.ts'
import { type NewTimer, setTimer } from '../data/timers.ts'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { fieldView, focusFirstWrong, problemView } from '../design/field.ts'
import { recurrenceText } from './recurrence.ts'

type Repeat = 'once' | 'daily' | 'weekdays' | 'weekly' | 'monthly' | 'cron'

const repeats: readonly (readonly [Repeat, string])[] = [
  ['once', 'Once'],
  ['daily', 'Every day'],
  ['weekdays', 'Every weekday'],
  ['weekly', 'Every week on that day'],
  ['monthly', 'Every month on that date'],
  ['cron', 'Cron expression'],
]

/** Sets a new timer. Fires `set`; stays open with the reason if refused. */
@customElement('dg-timer-dialog')
export class DgTimerDialog extends LitElement {
  static override readonly styles = [
    controls,
    css`
      form {
        display: grid;
        gap: var(--space-4);
      }
      .actions {
        display: flex;
        justify-content: flex-end;
        gap: var(--space-2);
      }
    `,
  ]
  @property({ attribute: false }) http!: Http
  @property({ type: Boolean }) open = false
  @state() private repeat: Repeat = 'once'
  @state() private cron = ''
  @state() private busy = false
  @state() private problem = ''
  @state() private errors: Readonly<Record<string, string>> = {}

  private readonly closed = (): void => {
    this.reset()
    this.dispatchEvent(new Event('close'))
  }

  private reset(): void {
    this.renderRoot.querySelector('form')?.reset()
    this.repeat = 'once'
    this.cron = ''
    this.problem = ''
    this.errors = {}
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (!(event.target instanceof HTMLFormElement) || this.busy) return
    const form = new FormData(event.target)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const timer = this.timerOf(text)
    if (timer === null) return focusFirstWrong(this)
    this.busy = true
    this.problem = ''
    try {
      await setTimer(this.http, timer)
      this.reset()
      this.dispatchEvent(new Event('set'))
    } catch (error) {
      this.takeProblem(error)
      void focusFirstWrong(this)
    } finally {
      this.busy = false
    }
  }

  private timerOf(text: (name: string) => string): NewTimer | null {
    const title = text('title')
    const at = text('at')
    const cron = text('cron')
    this.errors = {
      ...(title === '' ? { title: 'Enter what it is for.' } : {}),
      ...(this.repeat !== 'cron' && at === '' ? { at: 'Choose a date and time.' } : {}),
      ...(this.repeat === 'cron' && cron === ''
        ? { recurrence: 'Enter an expression such as 0 9 * * 1-5.' }
        : {}),
    }
    if (Object.keys(this.errors).length > 0) return null
    const missedPolicy = text('missed') === 'skip' ? 'skip' : 'fire_once'
    if (this.repeat === 'once') return { title, at, missedPolicy }
    if (this.repeat === 'cron') return { title, recurrence: cron, missedPolicy }
    return { title, at, recurrence: cronOf(this.repeat, at), missedPolicy }
  }

  private takeProblem(error: unknown): void {
    const fields = error instanceof Refused ? error.problem.errors : []
    const known = fields.filter(({ path }) => ['title', 'at', 'recurrence'].includes(path))
    this.errors = Object.fromEntries(known.map(({ path, message }) => [path, `It ${message}.`]))
    if (known.length === 0) this.problem = explain(error)
  }

  override render() {
    return html`<dg-dialog heading="Set a timer" .open=${this.open} @close=${this.closed}>
      <form novalidate @submit=${(event: SubmitEvent) => void this.submit(event)}>
        ${fieldView({ name: 'title', label: 'What for', placeholder: 'Water the plants', error: this.errors.title })}
        <div class="field">
          <label for="repeat">How often</label>
          <select
            class="input"
            id="repeat"
            name="repeat"
            .value=${this.repeat}
            @change=${(event: Event) => {
              const chosen = event.target instanceof HTMLSelectElement ? event.target.value : ''
              this.repeat = repeats.find(([value]) => value === chosen)?.[0] ?? 'once'
              this.errors = {}
            }}
          >
            ${repeats.map(([value, label]) => html`<option value=${value}>${label}</option>`)}
          </select>
        </div>
        ${this.repeat === 'cron' ? this.cronView() : this.momentView()}
        <div class="field">
          <label for="missed">If Delegate is off at that moment</label>
          <select class="input" id="missed" name="missed">
            <option value="fire_once">Fire once when it is back</option>
            <option value="skip">Skip it</option>
          </select>
        </div>
        ${problemView(this.problem)}
        <div class="actions">
          <button class="button" type="button" @click=${this.closed}>Cancel</button>
          <button class="button primary" ?disabled=${this.busy}>${this.busy ? 'Setting…' : 'Set timer'}</button>
        </div>
      </form>
    </dg-dialog>`
  }

  private momentView(): TemplateResult {
    const { at } = this.errors
    const label = this.repeat === 'once' ? 'When' : 'First time'
    return html`<div class="field">
      <label for="at">${label}</label>
      <input
        class="input"
        id="at"
        name="at"
        type="datetime-local"
        aria-invalid=${at ? 'true' : 'false'}
        aria-describedby="at-notes"
      />
      <div id="at-notes">
        ${at ? html`<div class="error"><dg-icon name="warning"></dg-icon><span>${at}</span></div>` : nothing}
        ${at ? nothing : html`<div class="hint">In your time zone from Settings</div>`}
      </div>
    </div>`
  }

  private cronView(): TemplateResult {
    const words = recurrenceText(this.cron)
    return html`<div @input=${(event: InputEvent) => {
      if (event.target instanceof HTMLInputElement) this.cron = event.target.value
    }}>
      ${fieldView({
        name: 'cron',
        label: 'Cron expression',
        value: this.cron,
        placeholder: '0 9 * * 1-5',
        hint: words === this.cron ? 'Minute, hour, day, month, weekday' : words,
        error: this.errors.recurrence,
      })}
    </div>`
  }
}

/** The cron expression that repeats a local time such as 2026-03-01T09:05. */
function cronOf(repeat: Exclude<Repeat, 'once' | 'cron'>, at: string): string {
  const [date = '', time = ''] = at.split('T')
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  const day = Number(date.split('-')[2] ?? 1)
  const days = {
    daily: '* * *',
    weekdays: '* * 1-5',
    weekly: `* * ${new Date(`${date}T00:00:00Z`).getUTCDay()}`,
    monthly: `${day} * *`,
  }[repeat]
  return `${minute} ${hour} ${days}`
}
