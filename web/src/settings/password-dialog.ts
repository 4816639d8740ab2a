import { html, type LitElement } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { AskPassword } from '../api/settings.ts'
import { DialogElement } from '../design/dialog.ts'
import { passwordView } from '../design/field.ts'

/** Asks for the owner's password. Resolves with it, or with null if the dialog is closed. */
export const askPasswordIn =
  (host: LitElement): AskPassword =>
  (text, error) =>
    new Promise((resolve) => {
      const dialog = Object.assign(new DgPasswordDialog(), { text, error, answer: resolve })
      dialog.addEventListener('close', () => resolve(null))
      dialog.openIn(host)
    })

@customElement('dg-password-dialog')
export class DgPasswordDialog extends DialogElement {
  @property() text = ''
  /** Why the last password was rejected. */
  @property() error: string | undefined
  @property({ attribute: false }) answer!: (password: string) => void

  protected override firstUpdated(): void {
    this.input()?.focus()
  }

  private input(): HTMLInputElement | null {
    return this.renderRoot.querySelector('input')
  }

  private readonly submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const password = this.input()?.value ?? ''
    if (password === '') return
    this.answer(password)
    this.close()
  }

  override render() {
    return html`<dg-dialog heading="Enter your password">
      <form class="form" id="password-question" novalidate @submit=${this.submit}>
        <p>${this.text}</p>
        ${passwordView({
          name: 'confirming-password',
          label: 'Your password',
          error: this.error,
        })}
      </form>
      <div slot="actions">
        <button class="button" type="button" @click=${this.close}>Cancel</button>
        <button class="button primary" form="password-question">Save</button>
      </div>
    </dg-dialog>`
  }
}
