import { html } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { explain, type Http, Refused } from '../data/http.ts'
import { changeSettings, fetchSettings } from '../data/settings.ts'
import { fieldView, problemView } from '../design/field.ts'
import { LightElement } from '../design/light-element.ts'

/** Asks for the owner's time zone. Fires `done` once it is saved. */
@customElement('dg-timezone-step')
export class DgTimezoneStep extends LightElement {
  protected override readonly sheets = []
  @property({ attribute: false }) http!: Http
  @state() private zone: string = Intl.DateTimeFormat().resolvedOptions().timeZone
  @state() private now: Date = new Date()
  @state() private busy = false
  @state() private error = ''
  @state() private problem = ''
  /** Keeps loaded settings from overwriting what the owner enters. */
  private entered = false
  private ticks: ReturnType<typeof setInterval> | undefined

  override connectedCallback(): void {
    super.connectedCallback()
    this.ticks = setInterval(() => {
      this.now = new Date()
    }, 1000)
    void this.load()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearInterval(this.ticks)
  }

  private async load(): Promise<void> {
    try {
      const settings = await fetchSettings(this.http)
      const stored = settings.find(({ key, source }) => key === 'TIMEZONE' && source !== 'default')
      if (stored?.value && !this.entered) this.zone = stored.value
    } catch (error) {
      this.problem = explain(error)
    }
  }

  private readonly typed = (event: Event): void => {
    if (!(event.target instanceof HTMLInputElement)) return
    this.entered = true
    this.zone = event.target.value.trim()
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (this.busy) return
    this.busy = true
    this.error = ''
    this.problem = ''
    try {
      await changeSettings(this.http, { TIMEZONE: this.zone })
      this.dispatchEvent(new Event('done'))
    } catch (error) {
      const named = error instanceof Refused ? error.problem.errors[0] : undefined
      if (named) this.error = `It ${named.message}.`
      else this.problem = explain(error)
      this.querySelector<HTMLInputElement>('#TIMEZONE')?.focus()
    } finally {
      this.busy = false
    }
  }

  /** The current time in the zone, so that the owner can check the choice. */
  private clockText(): string {
    try {
      const clock = new Intl.DateTimeFormat('en-GB', {
        timeZone: this.zone,
        weekday: 'long',
        hour: '2-digit',
        minute: '2-digit',
      })
      return `It is ${clock.format(this.now)} there.`
    } catch {
      return 'Choose a zone from the list, such as Europe/Berlin.'
    }
  }

  override render() {
    return html`<form novalidate @submit=${(event: SubmitEvent) => void this.submit(event)} @input=${this.typed}>
      ${problemView(this.problem)}
      ${fieldView({
        name: 'TIMEZONE',
        label: 'Time zone',
        value: this.zone,
        hint: this.clockText(),
        error: this.error,
        list: 'zones',
        required: true,
      })}
      <datalist id="zones">
        ${Intl.supportedValuesOf('timeZone').map((name) => html`<option value=${name}></option>`)}
      </datalist>
      <div class="step-actions">
        <button class="button primary" ?disabled=${this.busy}>${this.busy ? 'Saving…' : 'Continue'}</button>
      </div>
    </form>`
  }
}
