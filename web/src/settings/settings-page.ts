import { html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { Setting } from '../../../src/http/contract/settings.ts'
import { LightElement } from '../app/light-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { plural } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { changeSettings } from './change-settings.ts'
import './device-notifications.ts'
import { DgConnectionTest } from './connection-test.ts'
import './factors.ts'
import '../services/model-services.ts'
import './password-form.ts'
import './point-number.ts'
import './price-table.ts'
import type { AnswerOf } from '../api/routes.ts'
import { settingsOfServices } from '../services/service-words.ts'
import { rightsTable } from './rights-table.ts'
import { settingRow, valueText } from './setting-row.ts'
import { type SettingsSection, settingsSections } from './settings-sections.ts'
import { settingsStyles } from './settings-styles.ts'
import './sign-in-list.ts'
import { settingsPageStyles } from './settings-page-styles.ts'
import type { DgSignInList } from './sign-in-list.ts'

type Build = AnswerOf<'/build-info.json'>

type State = {
  readonly settings: readonly Setting[]
  readonly build: Build | null
  readonly proxies: readonly string[]
}

/** Settings, password, sessions and build information. */
@customElement('dg-settings-page')
export class DgSettingsPage extends LightElement {
  protected override readonly sheets = [settingsStyles, settingsPageStyles]
  private readonly loaded = new Loaded<State>(this, {
    fetch: () => this.fetch(),
    concerns: (type) => type === 'settings.changed',
  })
  private hasJumped = false

  protected override connected(signal: AbortSignal): void {
    addEventListener('hashchange', this.linked, { signal })
  }

  /** Unsaved values by key. Survives navigation to other pages. */
  private get draft(): Map<string, string> {
    return this.app.drafts.settings
  }

  private async fetch(): Promise<State> {
    const { http } = this.app
    // The settings are needed most when something else cannot be read.
    const [{ entries: settings }, build, proxies] = await Promise.all([
      http.get('/api/config'),
      http.get('/build-info.json').catch(() => null),
      http.get('/api/proxies').catch(() => null),
    ])
    for (const setting of settings)
      if (this.draft.get(setting.key) === valueText(setting)) this.draft.delete(setting.key)
    return { settings, build, proxies: proxies?.undeclared ?? [] }
  }

  private put(settings: readonly Setting[]): void {
    const { value } = this.loaded
    if (value) this.loaded.put({ ...value, settings })
  }

  protected override updated(): void {
    if (this.hasJumped || this.loaded.value === null) return
    this.hasJumped = true
    this.linked()
  }

  private readonly edit = (setting: Setting, text: string): void => {
    if (text === valueText(setting)) this.draft.delete(setting.key)
    else this.draft.set(setting.key, text)
    const { [setting.key]: _, ...others } = this.submission.errors
    this.submission.errors = others
    this.requestUpdate()
    // The bar that saves may have appeared above it.
    void this.updateComplete.then(() => this.field(setting.key)?.scrollIntoView({ block: 'nearest' }))
  }

  private readonly reset = (setting: Setting): Promise<boolean> =>
    this.app.attempt(async () => {
      const language = this.language()
      const { key } = setting
      this.put((await this.app.http.del('/api/config/{key}', { params: { key } })).entries)
      this.draft.delete(key)
      if (this.language() !== language) location.reload()
      const { title, secret } = setting
      this.app.toast(secret ? msg`${title}: removed` : msg`${title}: reset`)
      // The pressed button no longer exists, so move the focus.
      await this.updateComplete
      this.field(key)?.focus()
    })

  private language(): unknown {
    return this.loaded.value?.settings.find(({ key }) => key === 'LANGUAGE')?.value
  }

  private field(key: string): HTMLElement | null {
    return this.querySelector<HTMLElement>(`#${CSS.escape(key)}`)
  }

  private readonly save = async (): Promise<void> => {
    const language = this.language()
    const stored = this.loaded.value?.settings.filter(({ source }) => source === 'stored') ?? []
    const sent = [...this.draft]
    // Emptying a stored field resets it.
    const isEmptied = (name: string, text: string) =>
      text.trim() === '' && stored.some(({ key }) => key === name)
    const entries = sent.map(([key, text]) => [key, isEmptied(key, text) ? null : text])
    const isSaved = await this.submission.send(async () =>
      this.put(await changeSettings(this, Object.fromEntries(entries))),
    )
    const { problem } = this.submission
    if (problem !== '') this.app.toast(problem, 'warning')
    if (!isSaved) return
    // Keep values that were edited while saving.
    for (const [key, text] of sent) if (this.draft.get(key) === text) this.draft.delete(key)
    // All texts change.
    if (this.language() !== language) location.reload()
    this.requestUpdate()
    this.app.toast(msg`Saved`)
    if (this.draft.size === 0) await this.returnTo(sent.at(-1)?.[0])
  }

  /** The save bar disappears with the pressed button, so focus the last changed field. */
  private async returnTo(key: string | undefined): Promise<void> {
    await this.updateComplete
    if (key !== undefined && !this.contains(document.activeElement)) {
      this.field(key)?.focus({ preventScroll: true })
    }
  }

  private readonly discard = (): void => {
    const last = [...this.draft.keys()].at(-1)
    this.draft.clear()
    this.submission.show({})
    void this.returnTo(last)
  }

  /** Goes to the section of the address. */
  private readonly linked = (): void => {
    if (location.hash === '') return
    const heading = this.querySelector<HTMLElement>(`[id="${CSS.escape(location.hash.slice(1))}"] h2`)
    heading?.closest('section')?.scrollIntoView({ block: 'start' })
    heading?.focus({ preventScroll: true })
  }

  override render() {
    return html`<dg-page heading=${msg`Settings`}>
      ${loadedView(this.loaded, msg`the settings`, (loaded) => this.contentView(loaded))}
    </dg-page>`
  }

  private contentView({ settings, build, proxies }: State): TemplateResult {
    return html`
      <p class="intro soft">
        ${msg`Changes take effect at once, unless a setting says “After a restart”. Values set here override the environment. Reset returns to the environment’s value or the default.`}
      </p>
      <nav class="jumps" aria-label=${msg`On this page`}>
        ${settingsSections.map(({ id, heading }) => html`<a href="#${id}">${heading}</a>`)}
        <a href="#password">${msg`Password`}</a><a href="#sign-in">${msg`Sign-in`}</a><a href="#sessions">${msg`Sessions`}</a><a href="#about">${msg`About`}</a>
      </nav>
      <form novalidate @submit=${(event: SubmitEvent) => {
        event.preventDefault()
        void this.save()
      }}>
        ${settingsSections.map((section) => this.sectionView(section, settings, proxies))}
        <datalist id="timezones">
          ${Intl.supportedValuesOf('timeZone').map((name) => html`<option value=${name}></option>`)}
        </datalist>
        ${this.draft.size === 0 ? nothing : this.saveBarView()}
      </form>
      ${this.accountView()} ${aboutView(build)}
    `
  }

  private sectionView(
    section: SettingsSection,
    settings: readonly Setting[],
    proxies: readonly string[],
  ): TemplateResult {
    const { id, service, more } = section
    const own = settings.filter((setting) => setting.group === id)
    const unsaved = own.some(({ key }) => this.draft.has(key))
    // Rights are one table, and model services have a list of their own.
    const rows = own.filter(({ key }) => !key.startsWith('RIGHTS_') && !settingsOfServices.has(key))
    const rights = own.filter(({ key }) => key.startsWith('RIGHTS_'))
    const { errors } = this.submission
    const reset = (setting: Setting) => void this.reset(setting)
    const editing = { drafts: this.draft, errors, edit: this.edit, reset }
    return cardView(
      section,
      html`
        ${id === 'model' ? html`<dg-model-services .app=${this.app} .settings=${own}></dg-model-services>` : nothing}
        ${id === 'notifications' ? html`<dg-device-notifications .app=${this.app}></dg-device-notifications>` : nothing}
        ${rows.map((setting) =>
          setting.key === 'PRICES' ? this.pricesView(setting) : settingRow(setting, editing),
        )}
        ${rights.length > 0 ? rightsTable(rights, editing) : nothing}
        ${
          service
            ? html`<div class="body foot">
                <dg-connection-test
                  class="stack"
                  .app=${this.app}
                  service=${service}
                  note=${unsaved ? msg`Tests the saved settings. Your changes are not saved yet.` : ''}
                ></dg-connection-test>
                ${
                  service === 'telephony'
                    ? html`<dg-point-number class="stack" .app=${this.app} @pointed=${this.testAgain}></dg-point-number>`
                    : nothing
                }
              </div>`
            : nothing
        }
        ${id === 'service' && proxies.length > 0 ? proxiesView(proxies) : nothing}
        ${more ? html`<p class="body foot"><a href=${more.path}>${more.label}</a></p>` : nothing}
      `,
    )
  }

  private pricesView(setting: Setting): TemplateResult {
    return html`<dg-price-table
      .app=${this.app}
      .setting=${setting}
      .draft=${this.draft.get(setting.key)}
      .error=${this.submission.errors[setting.key]}
      @edit=${({ detail }: CustomEvent<string>) => this.edit(setting, detail)}
      @reset=${() => void this.reset(setting)}
    ></dg-price-table>`
  }

  /** Repeats the connection test, whose last result is stale. */
  private readonly testAgain = (event: Event): void => {
    const beside = event.target instanceof Element ? event.target.previousElementSibling : null
    if (beside instanceof DgConnectionTest) void beside.run()
  }

  private saveBarView(): TemplateResult {
    return html`<div class="beside save-bar" role="region" aria-label=${msg`Changes`}>
      <span>${msg`${plural(this.draft.size, msg`change`, msg`changes`)} not saved`}</span>
      <button class="button small quiet" type="button" @click=${this.discard}>${msg`Discard`}</button>
      <button class="button small primary" ?disabled=${this.submission.busy}>${this.submission.busy ? msg`Saving…` : msg`Save`}</button>
    </div>`
  }

  private accountView(): TemplateResult {
    const { toast } = this.app
    const changed = () => {
      toast(msg`Password changed. Other devices are signed out.`)
      void this.querySelector<DgSignInList>('dg-sign-in-list')?.list.reload()
    }
    return html`
      ${cardView(
        {
          id: 'password',
          icon: 'lock',
          heading: msg`Password`,
          about: msg`Changing it signs out every other device.`,
        },
        html`<div class="body">
          <dg-password-form .app=${this.app} @changed=${changed}></dg-password-form>
        </div>`,
      )}
      ${cardView(
        {
          id: 'sign-in',
          icon: 'key',
          heading: msg`Sign-in`,
          about: msg`What signs you in besides the password. Sensitive changes ask for the password or one of these if your sign-in is older than five minutes.`,
        },
        html`<div class="body"><dg-factors .app=${this.app}></dg-factors></div>`,
      )}
      ${cardView(
        {
          id: 'sessions',
          icon: 'monitor',
          heading: msg`Sessions`,
          about: msg`Where you are signed in. A session ends after 30 days without use, and after 90 days at most.`,
        },
        html`<div class="body"><dg-sign-in-list .app=${this.app}></dg-sign-in-list></div>`,
      )}
    `
  }
}

/** A card of the page: its heading, what it is about, and its content. */
function cardView(
  { id, icon, heading, about }: Pick<SettingsSection, 'id' | 'icon' | 'heading' | 'about'>,
  content: TemplateResult,
): TemplateResult {
  return html`<section class="card section" id=${id} aria-labelledby="${id}-heading">
    <header>
      <dg-icon name=${icon}></dg-icon>
      <div>
        <h2 id="${id}-heading" tabindex="-1">${heading}</h2>
        <p class="soft">${about}</p>
      </div>
    </header>
    ${content}
  </section>`
}

function aboutView(build: Build | null): TemplateResult {
  return cardView(
    {
      id: 'about',
      icon: 'info',
      heading: msg`About`,
      about: build === null ? 'Delegate' : buildText(build),
    },
    html`<div class="body actions about-links">
      <a href="/docs">${msg`API reference`}</a><a href="/logs">${msg`Logs`}</a><a href="/ready" target="_blank">${msg`Readiness`}</a>
    </div>`,
  )
}

function buildText({ version, commit, node }: Build): string {
  const build = commit === null ? '' : msg`, build ${commit.slice(0, 9)}`
  return msg`Delegate ${version}${build}, on Node ${node.replace(/^v/, '')}`
}

/** Warns of proxies in front of the service that TRUSTED_PROXY does not list. */
function proxiesView(addresses: readonly string[]): TemplateResult {
  return html`<div class="callout warning proxies">
    <dg-icon name="warning"></dg-icon>
    <p>
      ${msg`Requests with forwarding headers came from ${addresses.join(', ')}, but no trusted proxy has that address. If it is your proxy, add it to the trusted proxies. Until then, all its visitors count as one client.`}
    </p>
  </div>`
}
