import { html, LitElement } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { explain } from '../data/http.ts'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { problemView } from '../design/field.ts'

export type Confirmation = {
  readonly heading: string
  readonly text: string
  /** Label of the confirming button. */
  readonly action: string
  readonly run: () => Promise<void>
}

/** Confirms an irreversible action. Stays open with the reason if it fails. */
@customElement('dg-confirm-dialog')
export class DgConfirmDialog extends LitElement {
  static override readonly styles = controls
  @property({ attribute: false }) confirmation: Confirmation | null = null
  @state() private busy = false
  @state() private problem = ''

  private readonly closed = (): void => {
    this.problem = ''
    this.dispatchEvent(new Event('close'))
  }

  private readonly confirm = async (): Promise<void> => {
    if (!this.confirmation || this.busy) return
    this.busy = true
    this.problem = ''
    try {
      await this.confirmation.run()
      this.closed()
    } catch (error) {
      this.problem = explain(error)
    } finally {
      this.busy = false
    }
  }

  override render() {
    return html`<dg-dialog
      heading=${this.confirmation?.heading ?? ''}
      .open=${this.confirmation !== null}
      @close=${this.closed}
    >
      <p>${this.confirmation?.text}</p>
      ${problemView(this.problem)}
      <div slot="actions">
        <button class="button" autofocus @click=${this.closed}>Cancel</button>
        <button class="button danger" ?disabled=${this.busy} @click=${() => void this.confirm()}>
          ${this.busy ? 'One moment…' : this.confirmation?.action}
        </button>
      </div>
    </dg-dialog>`
  }
}
