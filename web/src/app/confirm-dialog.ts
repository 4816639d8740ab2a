import { css, html, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { problemView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import type { AppElement } from './app-element.ts'
import { DialogElement } from './dialog-element.ts'

export type Confirmation = {
  readonly heading: string
  readonly content: string | TemplateResult
  /** Label of the confirming button. */
  readonly action: string
  /** Label of the other button, where “Cancel” would be ambiguous. */
  readonly keep?: string
  readonly look?: 'danger' | 'primary'
  readonly run: () => Promise<unknown>
  /** Said once it is done. */
  readonly done?: string
  /** Loads again what has changed. */
  readonly reload?: () => Promise<void>
}

/** Asks the owner to confirm an action. */
export function askToConfirm(host: AppElement, confirmation: Confirmation): void {
  Object.assign(new DgConfirmDialog(), { confirmation }).openIn(host)
}

/** Confirms an action. Stays open with the reason if it fails. */
@customElement('dg-confirm-dialog')
export class DgConfirmDialog extends DialogElement {
  static override readonly styles = css`
    dl {
      margin: var(--space-4) 0;
    }
    dt {
      font-weight: 550;
    }
    dt::first-letter {
      text-transform: uppercase;
    }
  `
  @property({ attribute: false }) confirmation!: Confirmation

  private readonly confirm = async (): Promise<void> => {
    const { run, done, reload } = this.confirmation
    const isDone = await this.submission.send(async () => {
      await run()
      if (done !== undefined) this.app.toast(done)
      await reload?.()
    })
    if (isDone) this.close()
  }

  override render() {
    const { heading, content, action, keep = msg`Cancel`, look = 'danger' } = this.confirmation
    const { busy, problem } = this.submission
    return html`<dg-dialog heading=${heading}>
      ${typeof content === 'string' ? html`<p>${content}</p>` : content}
      ${problemView(problem)}
      <div slot="actions">
        <button class="button" autofocus @click=${this.close}>${keep}</button>
        <button class="button ${look}" ?disabled=${busy} @click=${this.confirm}>
          ${busy ? msg`One moment…` : action}
        </button>
      </div>
    </dg-dialog>`
  }
}
