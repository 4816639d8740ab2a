import { css, html } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { repeat } from 'lit/directives/repeat.js'
import { iconButton } from './icon-button.ts'
import { msg } from './msg.ts'
import { StyledElement } from './styled-element.ts'
import type { Toaster, ToastOptions, ToastTone } from './toaster.ts'

type Toast = ToastOptions & { readonly id: number; readonly text: string; readonly tone: ToastTone }

const shownForMs = 6000

/** Short notices at the edge of the page, announced politely. A toast stays while hovered or focused. */
@customElement('dg-toasts')
export class DgToasts extends StyledElement {
  static override readonly styles = css`
    :host {
      position: fixed;
      inset: auto 0 calc(6.5rem + env(safe-area-inset-bottom)) 0;
      display: grid;
      justify-items: center;
      gap: var(--space-2);
      padding: 0 var(--space-4);
      pointer-events: none;
      z-index: 20;
    }
    /* On a phone, the newest entries are just above the message field. */
    @media (max-width: 44rem) {
      :host {
        inset: calc(4rem + env(safe-area-inset-top)) 0 auto;
      }
    }
    .toast {
      display: grid;
      grid-template-columns: auto minmax(0, 1fr) auto auto;
      align-items: center;
      gap: var(--space-2);
      max-width: min(30rem, 100%);
      padding: var(--space-2) var(--space-2) var(--space-2) var(--space-4);
      border-radius: var(--radius-md);
      background: var(--ink);
      color: var(--paper);
      font-size: var(--text-sm);
      box-shadow: var(--shadow-high);
      pointer-events: auto;
    }
    /* Several buttons have a line of their own. */
    .toast .acts:has(.act + .act) {
      gap: var(--space-2);
      grid-area: 2 / 2 / auto / -1;
    }
    /* On a narrow screen, one button also gets its own line. */
    @media (max-width: 32rem) {
      .toast .acts:has(.act) {
        grid-area: 2 / 2 / auto / -1;
      }
    }
    .toast > .icon {
      grid-column: 4;
    }
    .toast .button {
      color: inherit;
    }
    .toast .act {
      border-color: color-mix(in oklch, var(--paper) 40%, transparent);
      font-weight: 600;
    }
    .toast .button:hover {
      background: color-mix(in oklch, var(--paper) 16%, transparent);
      color: inherit;
    }
    .toast :focus-visible {
      outline-color: var(--paper);
    }
  `
  @state() toasts: readonly Toast[] = []
  private nextId = 0

  override connectedCallback(): void {
    super.connectedCallback()
    this.role = 'status'
  }

  readonly show: Toaster = (text, tone = 'done', options = {}) => {
    const id = this.nextId
    this.nextId += 1
    const others = this.toasts.filter((toast) => toast.text !== text || toast.actions)
    const brief = others.filter((toast) => !stays(toast)).slice(-2)
    this.toasts = [...others.filter(stays), ...brief, { ...options, id, text, tone }]
    if (!stays(options)) this.dismissLater(id, options.shownForMs ?? shownForMs)
    return () => this.dismiss(id)
  }

  /** Closes all toasts, as their buttons do. */
  clear(): void {
    for (const { id, onClose } of this.toasts) this.close(id, onClose)
  }

  private dismissLater(id: number, afterMs: number): void {
    setTimeout(() => {
      const element = this.renderRoot.querySelector(`[data-id="${id}"]`)
      if (element?.matches(':hover, :focus-within')) this.dismissLater(id, shownForMs)
      else this.dismiss(id)
    }, afterMs)
  }

  private close(id: number, onClose: ToastOptions['onClose']): void {
    this.dismiss(id)
    onClose?.()
  }

  private dismiss(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id)
  }

  override render() {
    return repeat(
      this.toasts,
      ({ id }) => id,
      ({ id, text, tone, actions = [], onClose }) => html`<div class="toast" data-id=${id}>
        <dg-icon name=${tone}></dg-icon>
        <span class="text">${text}</span>
        <div class="actions acts">
          ${actions.map(
            (action) => html`<button
              class="button quiet small act"
              @click=${() => {
                this.close(id, onClose)
                action.run()
              }}
            >
              ${action.label}
            </button>`,
          )}
        </div>
        ${iconButton('close', msg`Dismiss`, () => this.close(id, onClose), 'quiet small')}
      </div>`,
    )
  }
}

function stays({ shownForMs }: ToastOptions): boolean {
  return shownForMs === Number.POSITIVE_INFINITY
}
