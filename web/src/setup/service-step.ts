import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { Setting, TestedService } from '../../../src/http/contract/settings.ts'
import { explain } from '../api/http.ts'
import type { Http } from '../api/routes.ts'
import { changeSettings } from '../api/settings.ts'
import { Submission } from '../app/submission.ts'
import { fieldView, problemView } from '../design/field.ts'
import { LightElement } from '../design/light-element.ts'
import '../settings/connection-test.ts'
import type { DgConnectionTest } from '../settings/connection-test.ts'
import { askPasswordIn } from '../settings/password-dialog.ts'
import { isForAnotherHost, otherHostText, valueText } from '../settings/setting-row.ts'

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
  @property({ attribute: false }) http!: Http
  @property({ attribute: false }) setup!: ServiceSetup
  /** Null while loading. The form waits for them, so that they never overwrite what the owner enters. */
  @state() private settings: readonly Setting[] | null = null
  @state() private tested: 'no' | 'works' | 'fails' = 'no'
  private readonly submission = new Submission(this)

  override connectedCallback(): void {
    super.connectedCallback()
    void this.load()
  }

  private async load(): Promise<void> {
    try {
      this.settings = (await this.http.get('/api/config')).entries
    } catch (error) {
      this.settings = []
      this.submission.show(explain(error))
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
      return text === '' || text === valueText(this.setting(key)) ? [] : [[key, text] as const]
    })
    return Object.fromEntries(entries)
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const entries = this.entered()
    const isNothing = Object.keys(entries).length === 0
    if (this.tested === 'works' && isNothing) return this.done()
    const [first] = this.setup.fields
    const isStored = this.setup.fields.some(({ key }) => this.setting(key)?.source === 'stored')
    await this.submission.send(
      () => this.saveAndTest(entries),
      isNothing && !isStored && first ? { [first.key]: this.setup.nothing } : {},
    )
    if (this.tested !== 'works') return
    await this.updateComplete
    this.querySelector<HTMLElement>('.primary')?.focus()
  }

  private async saveAndTest(entries: Readonly<Record<string, string>>): Promise<void> {
    if (Object.keys(entries).length > 0)
      this.settings = await changeSettings(this.http, entries, askPasswordIn(this))
    await this.updateComplete
    // A saved secret is neither shown nor sent again.
    for (const { key, type } of this.setup.fields) {
      const input = type === 'password' ? this.input(key) : null
      if (input) input.value = ''
    }
    const works = await this.querySelector<DgConnectionTest>('dg-connection-test')?.run()
    this.tested = works === true ? 'works' : 'fails'
  }

  private done(): void {
    this.dispatchEvent(new Event('done'))
  }

  /** Resets settings that failed the test, so that the service is not left half set up. */
  private readonly skip = async (): Promise<void> => {
    const own = this.setup.fields.filter(({ key }) => this.setting(key)?.source === 'stored')
    const isReset = await this.submission.send(async () => {
      if (this.tested === 'fails')
        for (const { key } of own) await this.http.del('/api/config/{key}', { params: { key } })
    })
    if (isReset) this.done()
  }

  override render() {
    const { setup, tested } = this
    const { busy, problem } = this.submission
    if (this.settings === null) return html`<p role="status">One moment…</p>`
    const further = setup.fields.filter(({ isFurther }) => isFurther)
    return html`<form novalidate @submit=${this.submit}>
      ${problemView(problem)}
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
        class=${tested === 'no' && !busy ? 'unused' : ''}
        .http=${this.http}
        service=${setup.service}
        bare
      ></dg-connection-test>
      ${tested === 'fails' ? html`<p class="soft">Fix the errors and try again, or skip this step and finish it later in Settings.</p>` : nothing}
      <div class="step-actions">
        ${
          tested === 'works'
            ? nothing
            : html`<button class="button quiet" type="button" ?disabled=${busy} @click=${this.skip}>
                ${setup.skip}
              </button>`
        }
        <button class="button primary" ?disabled=${busy}>
          ${busy ? 'Testing…' : tested === 'works' ? 'Continue' : 'Save and test'}
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
      value: setting?.source === 'stored' ? valueText(setting) : '',
      error: this.submission.errors[field.key],
    })
  }
}
