import { css, html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { IconName } from './icon.ts'
import { msg } from './msg.ts'
import { StyledElement } from './styled-element.ts'

export type MenuItem = {
  readonly label: string
  readonly icon: IconName
  readonly danger?: boolean
  readonly run: () => void
}

/** A button that opens a menu. The native popover handles Escape and restores the focus. */
@customElement('dg-menu')
export class DgMenu extends StyledElement {
  static override readonly styles = css`
    [popover] {
      visibility: visible;
      min-width: 13rem;
      padding: var(--space-1);
    }
    .item {
      gap: var(--space-3);
      width: 100%;
      min-height: 2.375rem;
      padding: 0 var(--space-3);
      border-radius: var(--radius-sm);
    }
    .item.danger {
      color: var(--danger);
    }
  `
  @property() label = msg`More`
  /** Shown on the button instead of the icon; the label must begin with it. */
  @property() text = ''
  @property({ attribute: false }) items: readonly MenuItem[] = []
  /** True if the Tab key reaches the button. */
  @property({ type: Boolean }) reachable = true
  @state() open = false

  private readonly toggle = (): void => {
    this.renderRoot.querySelector<HTMLElement>('[popover]')?.togglePopover()
  }

  private readonly toggled = (event: ToggleEvent): void => {
    this.open = event.newState === 'open'
    const menu = event.currentTarget
    if (this.open && menu instanceof HTMLElement) void this.present(menu)
  }

  private async present(menu: HTMLElement): Promise<void> {
    await this.updateComplete
    placeBelow(menu, this)
    menu.querySelector<HTMLElement>('.item')?.focus()
  }

  private readonly keyPressed = (event: KeyboardEvent): void => {
    const items = [...this.renderRoot.querySelectorAll<HTMLElement>('.item')]
    const at = items.findIndex((item) => item.matches(':focus'))
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: items.length - 1,
    }
    const next = steps[event.key]
    if (event.key === 'Tab') this.toggle()
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    items.at(next % items.length)?.focus()
  }

  private choose(item: MenuItem): void {
    this.toggle()
    item.run()
  }

  override render() {
    return html`
      <button
        class="button small ${this.text === '' ? 'quiet icon' : ''}"
        type="button"
        tabindex=${this.reachable ? 0 : -1}
        aria-label=${this.label}
        aria-haspopup="menu"
        aria-expanded=${this.open}
        @click=${this.toggle}
      >
        ${this.text === '' ? html`<dg-icon name="more"></dg-icon>` : this.text}
      </button>
      <div class="popup" popover role="menu" aria-label=${this.label} @toggle=${this.toggled} @keydown=${this.keyPressed}>
        ${
          this.open
            ? this.items.map(
                (item) => html`<button
                  class="item flat beside ${item.danger ? 'danger' : ''}"
                  role="menuitem"
                  type="button"
                  tabindex="-1"
                  @click=${() => this.choose(item)}
                >
                  <dg-icon name=${item.icon}></dg-icon>${item.label}
                </button>`,
              )
            : nothing
        }
      </div>
    `
  }
}

/** Places an open popover below an element, or above it if there is more room. */
export function placeBelow(popover: HTMLElement, element: HTMLElement): void {
  const { top, bottom, right } = element.getBoundingClientRect()
  const { width, height } = popover.getBoundingClientRect()
  const fits = bottom + 4 + height <= innerHeight
  popover.style.top = `${fits ? bottom + 4 : Math.max(8, top - height - 4)}px`
  popover.style.left = `${Math.min(Math.max(8, right - width), innerWidth - width - 8)}px`
}
