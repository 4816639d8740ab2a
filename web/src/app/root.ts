import { css, html, nothing } from 'lit'
import '../design/state.ts'
import type { DgToasts } from '../design/toast.ts'
import '../design/toast.ts'
import { LightElement } from '../design/light-element.ts'
import { type App, createApp } from './app.ts'
import './shell.ts'

type Route = {
  readonly title: string
  readonly shell: boolean
  readonly load: () => Promise<unknown>
  readonly view: (app: App, navigate: () => void) => unknown
}

/** The pages of this app by their exact paths. Each page's code is loaded when it is first shown. */
const routes: Readonly<Record<string, Route>> = {
  '/': {
    title: 'Timeline',
    shell: true,
    load: () => import('../pages/timeline-page.ts'),
    view: (app, navigate) =>
      html`<dg-timeline-page .app=${app} @open-navigation=${navigate}></dg-timeline-page>`,
  },
  '/timers': {
    title: 'Timers',
    shell: true,
    load: () => import('../pages/timers-page.ts'),
    view: (app, navigate) => html`<dg-timers-page .app=${app} @open-navigation=${navigate}></dg-timers-page>`,
  },
  '/memories': {
    title: 'Memories',
    shell: true,
    load: () => import('../pages/memories-page.ts'),
    view: (app, navigate) =>
      html`<dg-memories-page .app=${app} @open-navigation=${navigate}></dg-memories-page>`,
  },
  '/install': {
    title: 'Set up',
    shell: false,
    load: () => import('../pages/install-page.ts'),
    view: (app) => html`<dg-install-page .app=${app}></dg-install-page>`,
  },
  '/login': {
    title: 'Sign in',
    shell: false,
    load: () => import('../pages/login-page.ts'),
    view: (app) => html`<dg-login-page .app=${app}></dg-login-page>`,
  },
}

/** `/install.html` is `/install`, `/index.html` is `/`. */
function canonical(path: string): string {
  const bare = path.replace(/\.html$/, '')
  return bare === '/index' || bare === '' ? '/' : bare
}

const styles = css`
  .alone {
    display: grid;
    place-content: center;
    min-height: 100dvh;
  }
`

/** The root of the page: which page it is, the news at its edge, and what is read out. */
export class DgApp extends LightElement {
  static override readonly properties = {
    path: { state: true },
    state: { state: true },
    spoken: { state: true },
  }
  protected override readonly sheets = [styles]
  declare path: string
  declare state: 'loading' | 'shown' | 'failed'
  declare spoken: string
  private readonly app: App

  constructor() {
    super()
    this.path = canonical(location.pathname)
    this.state = 'loading'
    this.spoken = ''
    this.app = createApp({
      navigate: (path) => this.navigate(path),
      toast: (text, tone) => this.toasts()?.show(text, tone),
      announce: (text) => {
        this.spoken = text
      },
    })
  }

  override connectedCallback(): void {
    super.connectedCallback()
    addEventListener('popstate', this.moved)
    this.addEventListener('click', this.clicked)
    void this.show()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    removeEventListener('popstate', this.moved)
  }

  private toasts(): DgToasts | null {
    return this.querySelector<DgToasts>('dg-toasts')
  }

  private navigate(path: string): void {
    if (path === this.path) return
    history.pushState(null, '', path)
    void this.show()
  }

  private readonly moved = (): void => void this.show()

  /** Links between pages of this app do not reload it; every other link is the browser's. */
  private readonly clicked = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey)
      return
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement)
    if (link?.target !== '' || link.origin !== location.origin || !(link.pathname in routes)) return
    event.preventDefault()
    this.navigate(link.pathname + link.search)
  }

  private async show(): Promise<void> {
    const path = canonical(location.pathname)
    const route = routes[path]
    let state: 'shown' | 'failed' = 'shown'
    try {
      await route?.load()
    } catch {
      state = 'failed'
    }
    // Meanwhile the owner may have gone elsewhere; only what is loaded is shown.
    if (canonical(location.pathname) !== path) return
    this.path = path
    this.state = state
    document.title = `${route?.title ?? 'Not found'} · Delegate`
  }

  private readonly openNavigation = (): void => {
    this.querySelector('dg-shell')?.openNavigation()
  }

  override render() {
    return html`
      ${this.pageView()}
      <dg-toasts></dg-toasts>
      <div class="visually-hidden" role="log" aria-live="polite">${this.spoken}</div>
    `
  }

  private pageView() {
    const route = routes[this.path]
    if (!route) {
      return html`<main class="alone">
        <dg-state icon="help" heading="There is no such page">
          <p>The address may be mistyped, or the page may have moved.</p>
          <a href="/">To the timeline</a>
        </dg-state>
      </main>`
    }
    if (this.state === 'failed') {
      return html`<main class="alone">
        <dg-state icon="offline" heading="This page could not be loaded">
          <p>The service may be restarting, or may have been upgraded.</p>
          <button class="button" @click=${() => location.reload()}>Reload</button>
        </dg-state>
      </main>`
    }
    if (this.state === 'loading') return nothing
    const view = route.view(this.app, this.openNavigation)
    return route.shell ? html`<dg-shell .app=${this.app} .path=${this.path}>${view}</dg-shell>` : view
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'dg-shell': import('./shell.ts').DgShell
  }
}

customElements.define('dg-app', DgApp)
