import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { HaltState } from '../../../src/http/contract/halt.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'
import type { App } from './app.ts'
import { AppElement } from './app-element.ts'
import type { Command } from './commands.ts'
import type { DialogElement } from './dialog-element.ts'
import { askToHalt, askToRelease } from './halt.ts'
import { Loaded } from './loaded.ts'
import { navigationGroups, type Page, pageAt, pages } from './pages.ts'
import { shellStyles } from './shell-styles.ts'
import { DgShortcutSheet } from './shortcut-sheet.ts'
import './service-notices.ts'
import { createKeySequence, isModKey, isSearchKey } from './shortcuts.ts'
import type { Theme } from './theme.ts'

const themes: Readonly<Record<Theme, { readonly label: string; readonly icon: IconName }>> = {
  system: { label: msg`Theme: system`, icon: 'monitor' },
  light: { label: msg`Theme: light`, icon: 'sun' },
  dark: { label: msg`Theme: dark`, icon: 'moon' },
}

const listed: readonly Page[] = pages.filter(({ listing }) => listing)
/** The pages of the command palette. It offers the note editor as an action. */
const reached: readonly Page[] = pages.filter(({ alone, path }) => !alone && path !== '/notes/edit')

/** A tab that was hidden for longer than this reconnects when it becomes visible. */
const staleAfterMs = 60_000

/** Keeps the chat connected on every page. An open connection may have died while the device slept. */
function keepConnected(app: App, signal: AbortSignal): void {
  const session = app.chat()
  let hiddenAtMs = Date.now()
  const changed = () => {
    if (document.visibilityState === 'hidden') {
      hiddenAtMs = Date.now()
      return
    }
    app.touched()
    if (Date.now() - hiddenAtMs > staleAfterMs) session.restart()
    else session.retryNow()
  }
  addEventListener('online', () => session.restart(), { signal })
  document.addEventListener('visibilitychange', changed, { signal })
}

/** The frame of every signed-in page: a navigation sidebar, or a drawer on phones. */
@customElement('dg-shell')
export class DgShell extends AppElement {
  static override readonly styles = shellStyles
  @property() path!: string
  /** The service's version; empty until loaded. */
  @state() private version = ''
  /** A failure keeps the last state: each page reports an unreachable service itself. */
  private readonly halt = new Loaded<HaltState>(this, {
    fetch: (signal) => this.app.http.get('/api/halt', { signal }),
    concerns: (type) => type.startsWith('delegation.'),
  })
  private readonly help = new DgShortcutSheet()
  private palette: DialogElement | null = null
  private readonly sequence = createKeySequence('g')

  protected override connected(signal: AbortSignal): void {
    addEventListener('keydown', this.keyPressed, { signal })
    this.addEventListener('pointerdown', this.acted, { signal })
    this.addEventListener('keydown', this.acted, { signal })
    keepConnected(this.app, signal)
    this.app.theme.subscribe(() => this.requestUpdate(), signal)
    void this.loadVersion()
  }

  private async loadVersion(): Promise<void> {
    // On failure, hide the version: the page itself reports an unreachable service.
    const build = await this.app.http.get('/build-info.json').catch(() => null)
    this.version = build?.version ?? ''
  }

  protected override willUpdate(): void {
    this.toggleAttribute('halted', this.halt.value?.halted ?? false)
  }

  private readonly openNavigation = (): void => {
    this.renderRoot.querySelector<HTMLElement>('.sidebar')?.showPopover()
  }

  private closeNavigation(): void {
    this.renderRoot.querySelector<HTMLElement>('.sidebar:popover-open')?.hidePopover()
  }

  /** The timeline already shows what was noticed, so a toast would only cover new entries. */
  private readonly acted = (): void => {
    this.app.touched()
    if (this.path === '/') this.app.seeNotices()
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    // Many keyboards, such as German ones, type a slash with Shift.
    if (isModKey(event, '/', event.shiftKey)) {
      event.preventDefault()
      if (this.help.isConnected) this.help.close()
      else this.help.openIn(this)
      return
    }
    if (isModKey(event, 'k')) {
      event.preventDefault()
      if (this.palette?.isConnected) this.palette.close()
      else void this.app.attempt(this.openPalette)
      return
    }
    if (isSearchKey(event) && this.path !== '/') {
      event.preventDefault()
      this.app.navigate('/?search')
      return
    }
    const key = this.sequence(event)
    const page = key === null ? undefined : listed.find(({ listing }) => listing?.key === key)
    if (!page) return
    event.preventDefault()
    this.app.navigate(page.path)
  }

  /** Focuses the page's content, unless the page has already focused something itself. */
  async focusPage(): Promise<void> {
    // Pages that set the focus do so within their first frame.
    await new Promise(requestAnimationFrame)
    const page = this.firstElementChild
    if (page?.contains(document.activeElement)) return
    const target =
      (page?.shadowRoot ?? page)?.querySelector<HTMLElement>('dg-page') ??
      this.renderRoot.querySelector('main')
    target?.focus()
  }

  private readonly nextTheme = (): void => {
    this.app.theme.advance()
    this.requestUpdate()
  }

  /** Asks to halt Delegate, or to release it. */
  private readonly openHalt = (): void => {
    this.closeNavigation()
    const ask = this.halt.value?.halted ? askToRelease : askToHalt
    ask(this, (state) => this.halt.put(state))
  }

  private readonly talk = (): void =>
    void this.app.attempt(async () => {
      const { DgTalkBar } = await import('../talk/talk-bar.ts')
      const above = this.renderRoot.querySelector('.above')
      const present = above?.querySelector<InstanceType<typeof DgTalkBar>>('dg-talk-bar')
      if (present && !present.hasEnded) return present.focus()
      present?.remove()
      above?.append(Object.assign(new DgTalkBar(), { app: this.app }))
    })

  private readonly openPalette = async (): Promise<void> => {
    const { DgPalette } = await import('./palette.ts')
    // A second press while it was loading.
    if (this.palette?.isConnected) return
    this.palette = Object.assign(new DgPalette(), { pages: this.pageCommands(), actions: this.actions() })
    this.palette.openIn(this)
  }

  private pageCommands(): readonly Command[] {
    return reached.map(({ path, title, listing, within }) => ({
      label: title,
      icon: (listing ?? pageAt(within ?? '')?.listing)?.icon ?? 'help',
      run: () => this.app.navigate(path),
    }))
  }

  private actions(): readonly Command[] {
    const { app } = this
    const isHalted = this.halt.value?.halted ?? false
    const talk = () =>
      this.renderRoot
        .querySelector('main')
        ?.dispatchEvent(new Event('talk', { bubbles: true, composed: true }))
    const setTimer = async () => {
      const { DgTimerDialog } = await import('../timers/timer-dialog.ts')
      new DgTimerDialog().openIn(this)
    }
    return [
      { label: msg`New note`, icon: 'edit', words: 'write', run: () => app.navigate('/notes/edit') },
      {
        label: msg`Set a reminder…`,
        icon: 'timer',
        words: msg`timer alarm`,
        run: () => void app.attempt(setTimer),
      },
      {
        label: isHalted ? msg`Release Delegate…` : msg`Halt Delegate…`,
        icon: 'halt',
        words: 'stop',
        run: this.openHalt,
      },
      { label: msg`Talk with Delegate`, icon: 'talk', words: msg`call voice speak`, run: talk },
      {
        ...themes[app.theme.current],
        words: 'change dark light',
        run: this.nextTheme,
      },
      { label: msg`Keyboard shortcuts`, icon: 'keyboard', words: 'help', run: this.showHelp },
      { label: msg`Sign out`, icon: 'sign-out', words: msg`log out`, run: () => app.attempt(app.signOut) },
    ]
  }

  private readonly showHelp = (): void => {
    this.closeNavigation()
    this.help.openIn(this)
  }

  override render() {
    const theme = themes[this.app.theme.current]
    return html`
      <header><button class="button skip visually-hidden" @click=${() => void this.focusPage()}>${msg`Skip to content`}</button></header>
      <aside class="sidebar" popover aria-label=${msg`Navigation`}>
        <div class="brand beside"><img src="/favicon.svg" alt="" width="26" height="26" />Delegate</div>
        <nav class="stack" aria-label=${msg`Pages`}>
          ${navigationGroups.map(
            (group) => html`<ul class="list">
              ${listed.filter(({ listing }) => listing?.group === group).map((page) => this.entryView(page))}
            </ul>`,
          )}
        </nav>
        <div class="rest stack">
          <button class="entry flat beside" @click=${this.openHalt}>
            <dg-icon name="halt"></dg-icon>${this.halt.value?.halted ? msg`Release…` : msg`Halt`}
          </button>
          <button class="entry flat beside" @click=${this.nextTheme}>
            <dg-icon name=${theme.icon}></dg-icon>${theme.label}
          </button>
          <button class="entry flat beside keyboard" @click=${this.showHelp}>
            <dg-icon name="keyboard"></dg-icon>${msg`Keyboard shortcuts`}
          </button>
          <button class="entry flat beside" @click=${() => void this.app.attempt(this.app.signOut)}>
            <dg-icon name="sign-out"></dg-icon>${msg`Sign out`}
          </button>
          ${
            this.version === ''
              ? nothing
              : html`<a class="version" href="/settings#about" @click=${() => this.closeNavigation()}>
                  ${msg`Delegate ${this.version}`}
                </a>`
          }
        </div>
      </aside>
      <main tabindex="-1" @open-navigation=${this.openNavigation} @open-halt=${this.openHalt} @talk=${this.talk}>
        <div class="above">
          <dg-service-notices .app=${this.app} path=${this.path} .halt=${this.halt.value}></dg-service-notices>
        </div>
        <slot></slot>
      </main>
    `
  }

  private entryView({ path, title, listing }: Page): TemplateResult {
    const isWithin = path === pageAt(this.path)?.within
    return html`<li>
      <a
        class="entry flat beside"
        href=${path}
        aria-current=${path === this.path ? 'page' : isWithin ? 'true' : nothing}
        @click=${() => this.closeNavigation()}
      >
        <dg-icon name=${listing?.icon ?? 'help'}></dg-icon>${title}
      </a>
    </li>`
  }
}
