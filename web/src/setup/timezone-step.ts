import { html } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { LightElement } from '../app/light-element.ts'
import { Loaded } from '../app/loaded.ts'
import { fieldView, problemView, takeText } from '../design/field.ts'
import { locale, msg } from '../design/msg.ts'
import { tick } from '../design/while-connected.ts'

/** Asks for the owner's time zone. */
@customElement('dg-timezone-step')
export class DgTimezoneStep extends LightElement {
  /** It is saved. */
  @property({ attribute: false }) done!: () => void
  /** What the owner entered; null before that. */
  @state() private entered: string | null = null
  private readonly stored = new Loaded(this, {
    fetch: async () => {
      const { entries } = await this.app.http.get('/api/config')
      return entries.find(({ key, source }) => key === 'TIMEZONE' && source !== 'default')?.value ?? null
    },
  })

  constructor() {
    super()
    tick(this, 1000)
  }

  private get zone(): string {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
    return this.entered ?? String(this.stored.value ?? timeZone)
  }

  private readonly typed = takeText((text) => {
    this.entered = text.trim()
  })

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const isSaved = await this.submission.send(() =>
      this.app.http.put('/api/config', { body: { entries: { TIMEZONE: this.zone } } }),
    )
    if (isSaved) this.done()
  }

  /** The current time in the zone, so that the owner can check the choice. */
  private clockText(): string {
    try {
      const clock = new Intl.DateTimeFormat(locale, {
        timeZone: this.zone,
        weekday: 'long',
        hour: '2-digit',
        minute: '2-digit',
      })
      return msg`It is ${clock.format(new Date())} there.`
    } catch {
      return msg`Choose a zone from the list, such as Europe/Berlin.`
    }
  }

  override render() {
    const { busy, problem, errors } = this.submission
    return html`<form class="form" novalidate @submit=${this.submit} @input=${this.typed}>
      ${problemView(problem || this.stored.problem)}
      ${fieldView({
        name: 'TIMEZONE',
        label: msg`Time zone`,
        value: this.zone,
        hint: this.clockText(),
        error: errors.TIMEZONE,
        list: 'zones',
        required: true,
      })}
      <datalist id="zones">
        ${Intl.supportedValuesOf('timeZone').map((name) => html`<option value=${name}></option>`)}
      </datalist>
      <div class="actions step-actions">
        <button class="button primary" ?disabled=${busy}>${busy ? msg`Saving…` : msg`Continue`}</button>
      </div>
    </form>`
  }
}
