import { css, html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { iconButton } from './icon-button.ts'
import { msg } from './msg.ts'
import { StyledElement } from './styled-element.ts'

/** Without the hidden field for password managers. */
const fields = ':is(input, textarea, select):not([aria-hidden])'

/**
 * A modal dialog on the native element, open while it is in the document. The first field has the focus, unless
 * something else has `autofocus`. Fires `close` once closed.
 */
@customElement('dg-dialog')
export class DgDialog extends StyledElement {
  static override readonly styles = css`
    dialog[open] {
      display: flex;
      flex-direction: column;
      width: min(27rem, calc(100vw - 2rem));
      max-height: min(44rem, calc(100dvh - 2rem));
      padding: 0;
      border: 1px solid var(--line);
      border-radius: var(--radius-lg);
      background: var(--raised);
      color: var(--ink);
      box-shadow: var(--shadow-high);
      overflow: hidden;
    }
    dialog.wide {
      width: min(44rem, calc(100vw - 2rem));
    }
    dialog::backdrop {
      background: oklch(0.15 0.01 235 / 0.45);
    }
    .head {
      gap: var(--space-3);
      padding: var(--space-4) var(--space-4) var(--space-2) var(--space-5);
    }
    h2 {
      flex: 1;
      font-size: var(--text-lg);
      font-weight: 600;
      line-height: 1.3;
    }
    .body {
      padding: var(--space-2) var(--space-5) var(--space-4);
      overflow-y: auto;
      overscroll-behavior: contain;
    }
    .escaped:not(:empty) {
      padding: 0 var(--space-5) var(--space-2);
    }
    ::slotted([slot='actions']) {
      padding: var(--space-2) var(--space-5) var(--space-5);
      display: flex;
      justify-content: flex-end;
      gap: var(--space-2);
    }
  `
  @property() heading = ''
  @property({ type: Boolean }) wide = false
  /** Set if the dialog has no controls: its body takes the focus, so that keys scroll it. */
  @property({ type: Boolean }) reading = false
  /**
   * Set once a click beside it or one Escape would lose what it holds: on a phone, a tap there hides the keyboard. A
   * second Escape closes it.
   */
  @property({ type: Boolean }) filled = false
  private pressedOnBackdrop = false
  @state() private escaped = false

  override connectedCallback(): void {
    super.connectedCallback()
    void this.updateComplete.then(() => {
      if (!this.isConnected) return
      this.dialog()?.showModal()
      // The browser would focus the close button, which a typed space presses.
      if (!this.querySelector('[autofocus]')) this.querySelector<HTMLElement>(fields)?.focus()
    })
  }

  /** Closes it as the owner would, which returns the focus to where it was. */
  close(): void {
    this.dialog()?.close()
  }

  private dialog(): HTMLDialogElement | null {
    return this.renderRoot.querySelector('dialog')
  }

  /** A click needs both ends on the backdrop: a selection of text may end there, or start there. */
  private readonly clicked = (event: MouseEvent): void => {
    if (!this.filled && this.pressedOnBackdrop && isOnBackdrop(event)) this.close()
  }

  private readonly cancelled = (event: Event): void => {
    if (this.filled && !this.escaped) event.preventDefault()
    this.escaped = true
  }

  override render() {
    return html`<dialog
      class=${this.wide ? 'wide' : ''}
      aria-labelledby="heading"
      @close=${() => this.dispatchEvent(new Event('close', { bubbles: true, composed: true }))}
      @cancel=${this.cancelled}
      @input=${() => (this.escaped = false)}
      @pointerdown=${(event: PointerEvent) => (this.pressedOnBackdrop = isOnBackdrop(event))}
      @click=${this.clicked}
    >
      <div class="head beside">
        <h2 id="heading">${this.heading}</h2>
        ${iconButton('close', msg`Close`, () => this.close())}
      </div>
      <div class="body" tabindex=${this.reading ? 0 : nothing}><slot></slot></div>
      <p class="soft escaped" role="status">
        ${this.filled && this.escaped ? msg`Press Escape again to close. What is here will be lost.` : nothing}
      </p>
      <slot name="actions"></slot>
    </dialog>`
  }
}

/** The backdrop belongs to the dialog element, but lies outside of its box. */
function isOnBackdrop({ target, currentTarget, clientX, clientY }: MouseEvent): boolean {
  if (!(target instanceof HTMLDialogElement) || target !== currentTarget) return false
  const { left, right, top, bottom } = target.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}
