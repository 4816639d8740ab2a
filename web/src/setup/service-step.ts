import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { Setting, TestedService } from '../../../src/http/contract/settings.ts'
import { changeSettings } from '../api/settings.ts'
import type { App } from '../app/app.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { Submission } from '../app/submission.ts'
import { fieldView, problemView } from '../design/field.ts'
import { LightElement } from '../design/light-element.ts'
import '../settings/connection-test.ts'
import type { DgConnectionTest } from '../settings/connection-test.ts'
import { askPasswordIn } from '../settings/password-dialog.ts'
import { isForAnotherHost, otherHostText, valueText } from '../settings/setting-row.ts'

/** The settings and texts for setting up an outside service. */
export type ServiceSetup = {
  readonly service: TestedService
  readonly keys: readonly string[]
  /** Settings that are shown only when unfolded. */
  readonly further?: { readonly label: string; readonly keys: readonly string[] }
  readonly skip: string
  /** Error if nothing was entered. */
  readonly nothing: string
}

/** Saves and tests the settings of an outside service. Fires `done` when it works or is skipped. */
@customElement('dg-service-step')
export class DgServiceStep extends LightElement {
  @property({ attribute: false }) app!: App
  @property({ attribute: false }) setup!: ServiceSetup
  @state() private tested: 'no' | 'works' | 'fails' = 'no'
  private readonly settings = new Loaded(this, {
    fetch: async (): Promise<readonly Setting[]> => (await this.app.http.get('/api/config')).entries,
  })
  private readonly submission = new Submission(this)

  /** The settings with these keys. */
  private these(keys: readonly string[] = []): readonly Setting[] {
    return this.settings.value?.filter(({ key }) => keys.includes(key)) ?? []
  }

  /** All settings of this step. */
  private get fields(): readonly Setting[] {
    return this.these([...this.setup.keys, ...(this.setup.further?.keys ?? [])])
  }

  private input(key: string): HTMLInputElement | null {
    return this.querySelector<HTMLInputElement>(`#${key}`)
  }

  /** The entered values that differ from the current ones. */
  private entered(): Readonly<Record<string, string>> {
    const entries = this.fields.flatMap((setting) => {
      const text = this.input(setting.key)?.value.trim() ?? ''
      return text === '' || text === valueText(setting) ? [] : [[setting.key, text] as const]
    })
    return Object.fromEntries(entries)
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const entries = this.entered()
    const isNothing = Object.keys(entries).length === 0
    if (this.tested === 'works' && isNothing) return this.done()
    const [first = ''] = this.setup.keys
    const isStored = this.fields.some(({ source }) => source === 'stored')
    await this.submission.send(
      () => this.saveAndTest(entries),
      isNothing && !isStored ? { [first]: this.setup.nothing } : {},
    )
    if (this.tested !== 'works') return
    await this.updateComplete
    this.querySelector<HTMLElement>('.primary')?.focus()
  }

  private async saveAndTest(entries: Readonly<Record<string, string>>): Promise<void> {
    if (Object.keys(entries).length > 0)
      this.settings.put(await changeSettings(this.app.http, entries, askPasswordIn(this)))
    await this.updateComplete
    // A saved secret is neither shown nor sent again.
    for (const { key, secret } of this.fields) {
      const input = secret ? this.input(key) : null
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
    const stored = this.fields.filter(({ source }) => source === 'stored')
    const isReset = await this.submission.send(async () => {
      if (this.tested === 'fails')
        for (const { key } of stored) await this.app.http.del('/api/config/{key}', { params: { key } })
    })
    if (isReset) this.done()
  }

  override render() {
    return loadedView(this.settings, 'the settings', () => this.formView(), 'This form')
  }

  private formView(): TemplateResult {
    const { setup, tested } = this
    const { busy, problem } = this.submission
    const further = this.these(setup.further?.keys)
    return html`<form novalidate @submit=${this.submit}>
      ${problemView(problem)} ${setup.keys.flatMap((key) => this.these([key])).map((setting) => this.fieldView(setting))}
      ${
        further.length === 0
          ? nothing
          : html`<details>
              <summary>${setup.further?.label}</summary>
              <div class="more">${further.map((setting) => this.fieldView(setting))}</div>
            </details>`
      }
      <dg-connection-test
        class=${tested === 'no' && !busy ? 'unused' : ''}
        .http=${this.app.http}
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

  private fieldView(setting: Setting): TemplateResult {
    const { key, title, description, secret, set, source } = setting
    return fieldView({
      name: key,
      label: title,
      hint: isForAnotherHost(setting) ? otherHostText(setting) : description,
      type: secret ? 'password' : /URL$/.test(key) ? 'url' : /NUMBER$/.test(key) ? 'tel' : 'text',
      placeholder: secret && set ? 'Set. Type to replace it' : '',
      value: source === 'stored' ? valueText(setting) : '',
      error: this.submission.errors[key],
    })
  }
}
