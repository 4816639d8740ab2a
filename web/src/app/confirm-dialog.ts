import { html, type LitElement } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { DialogElement } from '../design/dialog.ts'
import { problemView } from '../design/field.ts'
import { Submission } from './submission.ts'

export type Confirmation = {
  readonly heading: string
  readonly text: string
  /** Label of the confirming button. */
  readonly action: string
  readonly run: () => Promise<void>
}

/** Asks the owner to confirm an irreversible action. */
export function askToConfirm(host: LitElement, confirmation: Confirmation): void {
  Object.assign(new DgConfirmDialog(), { confirmation }).openIn(host)
}

/** Confirms an irreversible action. Stays open with the reason if it fails. */
@customElement('dg-confirm-dialog')
export class DgConfirmDialog extends DialogElement {
  @property({ attribute: false }) confirmation!: Confirmation
  private readonly submission = new Submission(this)

  private readonly confirm = async (): Promise<void> => {
    if (await this.submission.send(this.confirmation.run)) this.close()
  }

  override render() {
    const { heading, text, action } = this.confirmation
    const { busy, problem } = this.submission
    return html`<dg-dialog heading=${heading}>
      <p>${text}</p>
      ${problemView(problem)}
      <div slot="actions">
        <button class="button" autofocus @click=${this.close}>Cancel</button>
        <button class="button danger" ?disabled=${busy} @click=${this.confirm}>
          ${busy ? 'One moment…' : action}
        </button>
      </div>
    </dg-dialog>`
  }
}
