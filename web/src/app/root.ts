import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { controls } from '../design/controls.ts'
import { msg } from '../design/msg.ts'
import type { DgToasts } from '../design/toast.ts'
import { type App, createApp } from './app.ts'
import { LightElement } from './light-element.ts'
import { type Page, pageAt } from './pages.ts'
import { currentSetupStep } from './setup-progress.ts'
import { forgetAfterSignOut } from './tab-storage.ts'
import { rememberWantedPage, takeWantedPage } from './wanted-page.ts'
import { startWorker } from './worker.ts'
import './shell.ts'
import type { DgShell } from './shell.ts'

const styles = css`
  .alone {
    display: grid;
    place-content: center;
    min-height: 100dvh;
  }
  @media (min-width: 60rem) {
    dg-shell ~ dg-toasts {
      inset-inline-start: var(--sidebar);
    }
  }
`

/** After this long without the page's code, show a loading message instead of the previous page. */
const waitingAfterMs = 700
/** After this long, show that the page failed to load. */
const loadLimitMs = 30_000

/** The app's root element: the current page, the toasts and the screen-reader announcements. */
@customElement('dg-app')
export class DgApp extends LightElement {
  protected override readonly sheets = [controls, styles]
  @state() page: Page | undefined = pageAt(location.pathname)
  @state() state: 'loading' | 'waiting' | 'shown' | 'failed' = 'loading'
  @state() spoken = ''
  private unseenNotices = 0
  private hasStartedWorker = false
  private steppingUp: Promise<boolean> | null = null
  override app: App = createApp({
    navigate: (path) => this.navigate(path),
    enter: () => this.enter(),
    askToSignIn: () => this.askToSignIn(),
    stepUp: () => this.stepUp(),
    toast: (text, tone, options) =>
      this.querySelector<DgToasts>('dg-toasts')?.show(text, tone, options) ?? (() => undefined),
    clearToasts: () => this.querySelector<DgToasts>('dg-toasts')?.clear(),
    announce: (text) => {
      this.spoken = text
    },
    onNotices: (unseen) => {
      this.unseenNotices = unseen
      this.showTitle()
      // An installed app shows the count on its icon.
      if ('setAppBadge' in navigator) navigator.setAppBadge(unseen).catch(() => undefined)
    },
  })

  override connectedCallback(): void {
    super.connectedCallback()
    // The root stays in the document.
    addEventListener('popstate', () => void this.show())
    this.addEventListener('click', this.clicked)
    void this.show()
  }

  private navigate(path: string): void {
    if (path === location.pathname + location.search + location.hash) {
      // A link to the moment that the address already names.
      dispatchEvent(new Event('navigated'))
      return
    }
    // Back must not return to a completed form: it would ask for the password again.
    if (this.page?.entrance) history.replaceState(null, '', path)
    else history.pushState(null, '', path)
    void this.show()
    dispatchEvent(new Event('navigated'))
  }

  /** The sign-in replaces the page in the history, so that Back does not visit the page twice. */
  private askToSignIn(): void {
    if (pageAt(location.pathname)?.entrance) return
    rememberWantedPage()
    void this.show()
  }

  /** Requests that are refused at the same time share one dialog. */
  private async stepUp(): Promise<boolean> {
    const { DgStepUpDialog } = await import('./step-up-dialog.ts')
    this.steppingUp ??= new DgStepUpDialog().ask(this).finally(() => {
      this.steppingUp = null
    })
    return this.steppingUp
  }

  private enter(): void {
    const wanted = takeWantedPage()
    const page = pageAt(wanted.pathname)
    if (page?.entrance) this.navigate('/')
    else if (page) this.navigate(wanted.pathname + wanted.search + wanted.hash)
    // Rendered by the service: a note's page or the API reference.
    else location.replace(wanted.href)
  }

  /** Handles links between pages of this app. The browser handles all others. */
  private readonly clicked = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey)
      return
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement)
    if (link?.target !== '' || link.origin !== location.origin || !pageAt(link.pathname)) return
    // A fragment of the current page.
    if (link.hash !== '' && link.pathname + link.search === location.pathname + location.search) return
    event.preventDefault()
    this.navigate(link.pathname + link.search + link.hash)
  }

  private async show(): Promise<void> {
    forgetAfterSignOut()
    // Resume an unfinished setup.
    if (pageAt(location.pathname)?.path === '/' && currentSetupStep() !== null) {
      history.replaceState(null, '', '/welcome')
    }
    const path = location.pathname
    const page = pageAt(path)
    if (!page?.entrance) this.startWorker()
    const isFirst = this.state === 'loading'
    // The owner may navigate away while the code is loading.
    const isWanted = () => location.pathname === path
    const waitingTimer = setTimeout(() => {
      if (isWanted() && !isFirst && !page?.alone) void this.put(page, 'waiting')
    }, waitingAfterMs)
    const failTimer = setTimeout(() => {
      if (isWanted()) void this.put(page, 'failed')
    }, loadLimitMs)
    let state: 'shown' | 'failed' = 'shown'
    try {
      await Promise.all([page?.load(), page?.alone ? null : this.app.clockReady()])
    } catch {
      state = 'failed'
    }
    clearTimeout(waitingTimer)
    clearTimeout(failTimer)
    if (!isWanted()) return
    await this.put(page, state)
  }

  /** Called after the sign-in: fetching its files without a session would be recorded as a refused attempt. */
  private startWorker(): void {
    if (this.hasStartedWorker) return
    this.hasStartedWorker = true
    startWorker({ toast: this.app.toast, navigate: (path) => this.navigate(path) })
  }

  private async put(page: Page | undefined, state: 'waiting' | 'shown' | 'failed'): Promise<void> {
    const moved =
      this.state !== 'loading' && (page !== this.page || state !== 'shown' || this.state !== 'shown')
    this.page = page
    this.state = state
    this.showTitle()
    if (!moved) return
    // Announces the page to screen readers, and moves the focus there.
    this.spoken = page?.title ?? msg`Not found`
    await this.updateComplete
    await this.querySelector<DgShell>('dg-shell')?.focusPage()
  }

  private showTitle(): void {
    const badge = this.unseenNotices === 0 ? '' : `(${this.unseenNotices}) `
    document.title = `${badge}${this.page?.title ?? msg`Not found`} · Delegate`
  }

  override render() {
    return html`
      ${this.pageView()}
      <dg-toasts></dg-toasts>
      <div class="visually-hidden" role="log" aria-live="polite">${this.spoken}</div>
    `
  }

  private pageView() {
    const { page } = this
    if (!page) {
      return html`<main class="alone">
        <dg-state icon="help" heading=${msg`Page not found`}>
          <p>${msg`The address may be mistyped, or the page may have moved.`}</p>
          <a href="/">${msg`Go to the timeline`}</a>
        </dg-state>
      </main>`
    }
    if (this.state === 'loading') return nothing
    const view = this.viewOf(page)
    return page.alone ? view : html`<dg-shell .app=${this.app} .path=${page.path}>${view}</dg-shell>`
  }

  private viewOf(page: Page): TemplateResult {
    if (this.state === 'waiting') return waitingView(page)
    return this.state === 'failed' ? failedView(page) : page.view(this.app)
  }
}

function waitingView(page: Page): TemplateResult {
  return html`<dg-page heading=${page.title}><p role="status">${msg`Loading this page…`}</p></dg-page>`
}

/** Keeps the navigation, so that the owner can go to another page. */
function failedView(page: Page): TemplateResult {
  const why = html`<dg-state icon="offline" heading=${msg`This page could not be loaded`}>
    <p>${msg`The service may be restarting, or may have been upgraded.`}</p>
    <button class="button" @click=${() => location.reload()}>${msg`Reload`}</button>
  </dg-state>`
  return page.alone
    ? html`<main class="alone">${why}</main>`
    : html`<dg-page heading=${page.title}>${why}</dg-page>`
}
