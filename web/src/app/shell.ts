import { css, html, LitElement, nothing } from 'lit'
import { signOut } from '../data/auth.ts'
import { explain } from '../data/http.ts'
import { fetchRoutes } from '../data/routes.ts'
import { controls } from '../design/controls.ts'
import '../design/icon.ts'
import type { IconName } from '../design/icon.ts'
import type { App } from './app.ts'
import { navigation } from './navigation.ts'
import './shortcut-sheet.ts'
import { isModKey } from './shortcuts.ts'
import type { Theme } from './theme.ts'

const themes: Readonly<Record<Theme, { readonly label: string; readonly icon: IconName }>> = {
  system: { label: 'Theme: system', icon: 'monitor' },
  light: { label: 'Theme: light', icon: 'sun' },
  dark: { label: 'Theme: dark', icon: 'moon' },
}

/** The frame of every page behind the sign-in: navigation at the side, in a drawer on a phone. */
export class DgShell extends LitElement {
  static override readonly properties = {
    app: { attribute: false },
    path: {},
    helpOpen: { state: true },
    offered: { state: true },
  }
  static override readonly styles = [
    controls,
    css`
      :host {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        height: 100dvh;
      }
      .sidebar {
        flex-direction: column;
        gap: var(--space-1);
        width: var(--sidebar);
        height: 100dvh;
        max-height: none;
        margin: 0;
        padding: var(--space-4) var(--space-3);
        border: 0;
        border-inline-end: 1px solid var(--line);
        background: var(--sunken);
        color: var(--ink);
        overflow-y: auto;
      }
      .sidebar:popover-open {
        display: flex;
        position: fixed;
        inset: 0 auto 0 0;
        background: var(--raised);
        box-shadow: var(--shadow-high);
      }
      .sidebar::backdrop {
        background: oklch(0.15 0.01 235 / 0.45);
      }
      @media (min-width: 60rem) {
        :host {
          grid-template-columns: auto minmax(0, 1fr);
        }
        .sidebar {
          display: flex;
          position: static;
        }
      }
      .brand {
        display: flex;
        align-items: center;
        gap: var(--space-3);
        padding: var(--space-1) var(--space-3) var(--space-4);
        font-size: var(--text-lg);
        font-weight: 650;
        letter-spacing: -0.01em;
      }
      .brand img {
        width: 1.625rem;
        height: 1.625rem;
      }
      nav {
        display: grid;
        gap: 2px;
      }
      .entry {
        display: flex;
        align-items: center;
        gap: var(--space-3);
        width: 100%;
        min-height: 2.5rem;
        padding: 0 var(--space-3);
        border: 0;
        border-radius: var(--radius-md);
        background: none;
        color: var(--ink-soft);
        font: 450 var(--text-md) / 1.2 var(--font);
        text-align: start;
        text-decoration: none;
        cursor: pointer;
      }
      .entry:hover {
        background: var(--hover);
        color: var(--ink);
      }
      .entry[aria-current] {
        background: var(--accent-soft);
        color: var(--on-accent-soft);
        font-weight: 600;
      }
      .rest {
        display: grid;
        gap: 2px;
        margin-top: auto;
      }
      main {
        min-width: 0;
        min-height: 0;
        height: 100dvh;
      }
      @media (hover: none) and (max-width: 60rem) {
        .keyboard {
          display: none;
        }
      }
    `,
  ]
  declare app: App
  declare path: string
  declare helpOpen: boolean
  /** The routes of the service, once it has told them. */
  declare private offered: ReadonlySet<string>
  private ends: (() => void)[] = []

  constructor() {
    super()
    this.helpOpen = false
    this.offered = new Set()
  }

  override connectedCallback(): void {
    super.connectedCallback()
    addEventListener('keydown', this.keyPressed)
    this.ends = [
      () => removeEventListener('keydown', this.keyPressed),
      this.app.theme.subscribe(() => this.requestUpdate()),
    ]
    void this.askForRoutes()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    for (const end of this.ends) end()
  }

  /** Asked of its description: a request for what may not be there would be an error in the browser's log. */
  private async askForRoutes(): Promise<void> {
    try {
      this.offered = await fetchRoutes(this.app.http)
    } catch (error) {
      this.app.toast(`The navigation may be incomplete. ${explain(error)}`, 'warning')
    }
  }

  /** Opens the navigation drawer of a narrow page. */
  openNavigation(): void {
    this.renderRoot.querySelector<HTMLElement>('.sidebar')?.showPopover()
  }

  private closeNavigation(): void {
    this.renderRoot.querySelector<HTMLElement>('.sidebar:popover-open')?.hidePopover()
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    if (!isModKey(event, '/')) return
    event.preventDefault()
    this.helpOpen = !this.helpOpen
  }

  private readonly nextTheme = (): void => {
    this.app.theme.advance()
    this.requestUpdate()
  }

  private readonly showHelp = (): void => {
    this.closeNavigation()
    this.helpOpen = true
  }

  private readonly leave = async (): Promise<void> => {
    try {
      await signOut(this.app.http)
      this.app.leave()
    } catch (error) {
      this.app.toast(explain(error), 'warning')
    }
  }

  override render() {
    const theme = themes[this.app.theme.current]
    const listed = navigation.filter(({ needs }) => needs === undefined || this.offered.has(needs))
    return html`
      <aside class="sidebar" popover aria-label="Navigation">
        <div class="brand"><img src="/favicon.svg" alt="" width="26" height="26" />Delegate</div>
        <nav aria-label="Pages">
          ${listed.map(
            ({ path, label, icon }) => html`<a
              class="entry"
              href=${path}
              aria-current=${path === this.path ? 'page' : nothing}
              @click=${() => this.closeNavigation()}
            >
              <dg-icon name=${icon}></dg-icon>${label}
            </a>`,
          )}
        </nav>
        <div class="rest">
          <button class="entry" @click=${this.nextTheme}>
            <dg-icon name=${theme.icon}></dg-icon>${theme.label}
          </button>
          <button class="entry keyboard" @click=${this.showHelp}>
            <dg-icon name="keyboard"></dg-icon>Keyboard shortcuts
          </button>
          <button class="entry" @click=${() => void this.leave()}>
            <dg-icon name="sign-out"></dg-icon>Sign out
          </button>
        </div>
      </aside>
      <main><slot></slot></main>
      <dg-shortcut-sheet .open=${this.helpOpen} @close=${() => (this.helpOpen = false)}></dg-shortcut-sheet>
    `
  }
}

customElements.define('dg-shell', DgShell)
