import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { explain, type Http, Refused } from '../data/http.ts'
import {
  type AskPassword,
  changeSettings,
  fetchSettings,
  resetSetting,
  type Setting,
  type TestedService,
} from '../data/settings.ts'
import { fieldView, problemView } from '../design/field.ts'
import { LightElement } from '../design/light-element.ts'
import '../settings/connection-test.ts'
import '../settings/password-dialog.ts'
import { isForAnotherHost, otherHostText } from '../settings/setting-row.ts'

export type ServiceField = {
  /** Key of the setting. */
  readonly key: string
  readonly label: string
  readonly hint: string
  readonly type?: 'text' | 'url' | 'tel' | 'password'
  readonly placeholder?: string
  /** Shown only when the details are unfolded. */
  readonly isFurther?: true
}

/** The fields and texts for setting up an outside service. */
export type ServiceSetup = {
  readonly service: TestedService
  readonly fields: readonly ServiceField[]
  readonly further: string
  readonly skip: string
  /** Error if nothing was entered. */
  readonly nothing: string
}

/** Saves and tests the settings of an outside service. Fires `done` when it works or is skipped. */
@customElement('dg-service-step')
export class DgServiceStep extends LightElement {
  protected override readonly sheets = []
  @property({ attribute: false }) http!: Http
  @property({ attribute: false }) setup!: ServiceSetup
  /** Null while loading. The form waits for them, so that they never overwrite what the owner enters. */
  @state() private settings: readonly Setting[] | null = null
  @state() private tested: 'no' | 'works' | 'fails' = 'no'
  @state() private busy = false
  @state() private errors: Readonly<Record<string, string>> = {}
  @state() private problem = ''

  override connectedCallback(): void {
    super.connectedCallback()
    void this.load()
  }

  private async load(): Promise<void> {
    try {
      this.settings = await fetchSettings(this.http)
    } catch (error) {
      this.settings = []
      this.problem = explain(error)
    }
  }

  private setting(key: string): Setting | undefined {
    return this.settings?.find((setting) => setting.key === key)
  }

  private input(key: string): HTMLInputElement | null {
    return this.querySelector<HTMLInputElement>(`#${key}`)
  }

  /** The entered values that differ from the current ones. */
  private entered(): Readonly<Record<string, string>> {
    const entries = this.setup.fields.flatMap(({ key }) => {
      const text = this.input(key)?.value.trim() ?? ''
      return text === '' || text === this.setting(key)?.value ? [] : [[key, text] as const]
    })
    return Object.fromEntries(entries)
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (this.busy) return
    const entries = this.entered()
    const isNothing = Object.keys(entries).length === 0
    if (this.tested === 'works' && isNothing) return this.done()
    this.errors = {}
    this.problem = ''
    const [first] = this.setup.fields
    if (isNothing && !this.setup.fields.some(({ key }) => this.setting(key)?.source === 'stored') && first) {
      this.errors = { [first.key]: this.setup.nothing }
      return this.focusFirstError()
    }
    this.busy = true
    try {
      if (!isNothing) this.settings = await changeSettings(this.http, entries, this.askPassword)
      await this.updateComplete
      // A saved secret is neither shown nor sent again.
      for (const { key, type } of this.setup.fields) {
        const input = type === 'password' ? this.input(key) : null
        if (input) input.value = ''
      }
      const works = await this.querySelector('dg-connection-test')?.run()
      this.tested = works === true ? 'works' : 'fails'
    } catch (error) {
      this.refused(error)
    } finally {
      this.busy = false
    }
    if (this.tested === 'works') {
      await this.updateComplete
      this.querySelector<HTMLElement>('.primary')?.focus()
    }
  }

  private readonly askPassword: AskPassword = (question, error) =>
    this.querySelector('dg-password-dialog')?.ask(question, error) ?? Promise.resolve(null)

  private refused(error: unknown): void {
    const named = error instanceof Refused ? error.problem.errors : []
    const known = named.map(
      ({ path, message }) => [path.replace(/^entries\./, ''), `It ${message}.`] as const,
    )
    this.errors = Object.fromEntries(known.filter(([key]) => this.input(key) !== null))
    if (Object.keys(this.errors).length === 0) this.problem = explain(error)
    this.focusFirstError()
  }

  private focusFirstError(): void {
    const [first] = Object.keys(this.errors)
    if (first === undefined) return
    void this.updateComplete.then(() => {
      const details = this.input(first)?.closest('details')
      if (details) details.open = true
      this.input(first)?.focus()
    })
  }

  private done(): void {
    this.dispatchEvent(new Event('done'))
  }

  /** Resets settings that failed the test, so that the service is not left half set up. */
  private readonly skip = async (): Promise<void> => {
    if (this.busy) return
    this.busy = true
    try {
      if (this.tested === 'fails') {
        const own = this.setup.fields.filter(({ key }) => this.setting(key)?.source === 'stored')
        for (const { key } of own) await resetSetting(this.http, key)
      }
      this.done()
    } catch (error) {
      this.problem = explain(error)
    } finally {
      this.busy = false
    }
  }

  override render() {
    const { setup, tested } = this
    if (this.settings === null) return html`<p role="status">One moment…</p>`
    const further = setup.fields.filter(({ isFurther }) => isFurther)
    return html`<dg-password-dialog></dg-password-dialog><form novalidate @submit=${(event: SubmitEvent) => void this.submit(event)}>
      ${problemView(this.problem)}
      ${setup.fields.filter(({ isFurther }) => !isFurther).map((field) => this.fieldView(field))}
      ${
        further.length === 0
          ? nothing
          : html`<details>
              <summary>${setup.further}</summary>
              <div class="more">${further.map((field) => this.fieldView(field))}</div>
            </details>`
      }
      <dg-connection-test
        class=${tested === 'no' && !this.busy ? 'unused' : ''}
        .http=${this.http}
        service=${setup.service}
        bare
      ></dg-connection-test>
      ${tested === 'fails' ? html`<p class="step-note">Fix the errors and try again, or skip this step and finish it later in Settings.</p>` : nothing}
      <div class="step-actions">
        ${
          tested === 'works'
            ? nothing
            : html`<button class="button quiet" type="button" ?disabled=${this.busy} @click=${() => void this.skip()}>
                ${setup.skip}
              </button>`
        }
        <button class="button primary" ?disabled=${this.busy}>
          ${this.busy ? 'Testing…' : tested === 'works' ? 'Continue' : 'Save and test'}
        </button>
      </div>
    </form>`
  }

  private fieldView(field: ServiceField): TemplateResult {
    const setting = this.setting(field.key)
    return fieldView({
      name: field.key,
      label: field.label,
      hint: setting && isForAnotherHost(setting) ? otherHostText(setting) : field.hint,
      type: field.type ?? 'text',
      placeholder: setting?.secret && setting.set ? 'Set. Type to replace it' : (field.placeholder ?? ''),
      value: setting?.source === 'stored' ? (setting.value ?? '') : '',
      error: this.errors[field.key],
    })
  }
}
