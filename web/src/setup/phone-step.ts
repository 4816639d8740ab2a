import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { Setting } from '../../../src/http/contract/settings.ts'
import { LightElement } from '../app/light-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { fieldView, problemView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { changeSettings } from '../settings/change-settings.ts'
import '../settings/connection-test.ts'
import type { DgConnectionTest } from '../settings/connection-test.ts'
import { isForAnotherHost, otherHostText, valueText } from '../settings/setting-row.ts'

const keys = [
  'TELEPHONY_ACCOUNT_SID',
  'TELEPHONY_AUTH_TOKEN',
  'TELEPHONY_PHONE_NUMBER',
  'OWNER_PHONE_NUMBER',
  'PUBLIC_URL',
]

/** Saves and tests the settings of the telephony provider. */
@customElement('dg-phone-step')
export class DgPhoneStep extends LightElement {
  /** It works or is skipped. */
  @property({ attribute: false }) done!: () => void
  @state() private tested: 'no' | 'works' | 'fails' = 'no'
  private readonly settings = new Loaded(this, {
    fetch: async (): Promise<readonly Setting[]> => (await this.app.http.get('/api/config')).entries,
  })

  /** The settings of this step, in its order. */
  private get fields(): readonly Setting[] {
    const all = this.settings.value ?? []
    return keys.flatMap((key) => all.find((setting) => setting.key === key) ?? [])
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
    const isStored = this.fields.some(({ source }) => source === 'stored')
    await this.submission.send(
      () => this.saveAndTest(entries),
      isNothing && !isStored
        ? { TELEPHONY_ACCOUNT_SID: msg`Enter the account, or set up the phone later.` }
        : {},
    )
    if (this.tested !== 'works') return
    await this.updateComplete
    this.querySelector<HTMLElement>('.primary')?.focus()
  }

  private async saveAndTest(entries: Readonly<Record<string, string>>): Promise<void> {
    if (Object.keys(entries).length > 0) this.settings.put(await changeSettings(this, entries))
    await this.updateComplete
    // A saved secret is neither shown nor sent again.
    for (const { key, secret } of this.fields) {
      const input = secret ? this.input(key) : null
      if (input) input.value = ''
    }
    const works = await this.querySelector<DgConnectionTest>('dg-connection-test')?.run()
    this.tested = works === true ? 'works' : 'fails'
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
    return loadedView(this.settings, msg`the settings`, () => this.formView())
  }

  private formView(): TemplateResult {
    const { tested } = this
    const { busy, problem } = this.submission
    return html`<form class="form" novalidate @submit=${this.submit}>
      ${problemView(problem)} ${this.fields.map((setting) => this.fieldView(setting))}
      <dg-connection-test
        class="stack ${tested === 'no' && !busy ? 'unused' : ''}"
        .app=${this.app}
        service="telephony"
        bare
      ></dg-connection-test>
      ${tested === 'fails' ? html`<p class="soft">${msg`Fix the errors and try again, or skip this step and finish it later in Settings.`}</p>` : nothing}
      <div class="actions step-actions">
        ${
          tested === 'works'
            ? nothing
            : html`<button class="button quiet" type="button" ?disabled=${busy} @click=${this.skip}>
                ${msg`Not now`}
              </button>`
        }
        <button class="button primary" ?disabled=${busy}>
          ${busy ? msg`Testing…` : tested === 'works' ? msg`Continue` : msg`Save and test`}
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
      placeholder: secret && set ? msg`Set. Type to replace it` : '',
      value: source === 'stored' ? valueText(setting) : '',
      error: this.submission.errors[key],
    })
  }
}
