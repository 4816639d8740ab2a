import { css, html, LitElement, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { explain, type Http } from '../data/http.ts'
import { type Pointing, planPointing, pointNumber } from '../data/telephony.ts'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { problemView } from '../design/field.ts'
import '../design/icon.ts'
import { plural } from '../design/format.ts'

/**
 * "Point my number here": shows what would change at the provider, and changes it once the owner confirms.
 * Fires `pointed` after a change, so that the page can rerun its connection test.
 */
@customElement('dg-point-number')
export class DgPointNumber extends LitElement {
  static override readonly styles = [
    controls,
    css`
      :host {
        display: grid;
        gap: var(--space-3);
      }
      .act {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2) var(--space-3);
        color: var(--ink-soft);
        font-size: var(--text-sm);
      }
      dl {
        display: grid;
        gap: var(--space-3);
        margin: var(--space-4) 0;
      }
      dt {
        font-weight: 550;
      }
      dt::first-letter {
        text-transform: uppercase;
      }
      dd {
        margin: 0;
        color: var(--ink-soft);
        font-size: var(--text-sm);
        overflow-wrap: anywhere;
      }
      del {
        text-decoration-thickness: 1px;
      }
    `,
  ]
  @property({ attribute: false }) http!: Http
  /** The changes to confirm while the dialog is open. */
  @state() private plan: Pointing | null = null
  @state() private busy = false
  /** Why the plan could not be loaded. */
  @state() private problem = ''
  /** Why the change failed. */
  @state() private refusal = ''
  @state() private outcome = ''

  private readonly ask = async (): Promise<void> => {
    if (this.busy) return
    this.busy = true
    this.problem = ''
    this.outcome = ''
    try {
      const plan = await planPointing(this.http)
      if (plan.changes.length === 0) this.outcome = `${plan.number} already points here.`
      else this.plan = plan
    } catch (error) {
      this.problem = explain(error)
    } finally {
      this.busy = false
    }
  }

  private readonly point = async (): Promise<void> => {
    if (this.busy) return
    this.busy = true
    this.refusal = ''
    try {
      const { number, changes } = await pointNumber(this.http)
      this.plan = null
      this.outcome = `${number} now points here: ${plural(changes.length, 'address', 'addresses')} changed.`
      this.dispatchEvent(new Event('pointed'))
    } catch (error) {
      this.refusal = explain(error)
    } finally {
      this.busy = false
    }
  }

  private readonly closed = (): void => {
    this.plan = null
    this.refusal = ''
  }

  override render() {
    const { plan } = this
    return html`
      <div class="act">
        <button
          class="button small"
          type="button"
          ?disabled=${this.busy && plan === null}
          @click=${() => void this.ask()}
        >
          <dg-icon name="phone"></dg-icon>${this.busy && plan === null ? 'Asking the provider…' : 'Point my number here'}
        </button>
        <span role="status">${this.outcome}</span>
      </div>
      ${problemView(this.problem)}
      <dg-dialog
        heading=${plan === null ? '' : `Point ${plan.number} here?`}
        .open=${plan !== null}
        @close=${this.closed}
      >
        ${plan === null ? nothing : changesView(plan)} ${problemView(this.refusal)}
        <div slot="actions">
          <button class="button" type="button" autofocus @click=${this.closed}>Cancel</button>
          <button class="button primary" type="button" ?disabled=${this.busy} @click=${() => void this.point()}>
            ${this.busy ? 'One moment…' : 'Point it here'}
          </button>
        </div>
      </dg-dialog>
    `
  }
}

function changesView({ changes }: Pointing) {
  return html`
    <p>Calls and texts to this number will only reach this service.</p>
    <dl>
      ${changes.map(
        ({ name, from, to }) => html`<div>
          <dt>${name}</dt>
          <dd>${from === null ? 'points nowhere' : html`<del>${from}</del>`}</dd>
          <dd>${to}</dd>
        </div>`,
      )}
    </dl>
  `
}

declare global {
  interface HTMLElementTagNameMap {
    'dg-point-number': DgPointNumber
  }
}
