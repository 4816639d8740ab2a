import { css, html, LitElement, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { controls } from '../design/controls.ts'
import type { Connection } from './chat/socket.ts'

const shownAfterMs = 700

/** Shows that the live connection is down, unless it comes back right away. Fires `retry`. */
@customElement('dg-connection')
export class DgConnection extends LitElement {
  static override readonly styles = [
    controls,
    css`
      :host {
        display: block;
        font-size: var(--text-sm);
      }
      .state {
        display: flex;
        align-items: center;
        gap: var(--space-2);
        padding: 0 var(--space-1) 0 var(--space-3);
        border-radius: 999px;
        background: var(--warning-soft);
        white-space: nowrap;
      }
      .state > dg-icon {
        color: var(--warning);
      }
      .text {
        padding: 0.3rem var(--space-2) 0.3rem 0;
      }
    `,
  ]
  @property({ attribute: false }) connection: Connection = { state: 'connecting' }
  @state() private visible = false
  private timer: ReturnType<typeof setTimeout> | undefined

  override willUpdate(): void {
    const cut = this.connection.state === 'waiting' || this.connection.state === 'connecting'
    if (!cut) {
      clearTimeout(this.timer)
      this.timer = undefined
      this.visible = false
    } else {
      this.timer ??= setTimeout(() => {
        this.visible = true
      }, shownAfterMs)
    }
  }

  override render() {
    const waiting = this.connection.state === 'waiting'
    const isRefused = this.connection.state === 'waiting' && this.connection.isRefused
    return html`<div role="status">
      ${
        this.visible
          ? html`<div class="state">
              <dg-icon name="offline"></dg-icon>
              <span class="text">${isRefused ? 'No live connection' : waiting ? 'Offline' : 'Reconnecting…'}</span>
              ${
                waiting
                  ? html`<button class="button quiet small" @click=${() => this.dispatchEvent(new Event('retry'))}>
                      Try now
                    </button>`
                  : nothing
              }
            </div>`
          : nothing
      }
    </div>`
  }
}
