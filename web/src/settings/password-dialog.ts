import { html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { AskPassword } from '../api/settings.ts'
import type { AppElement } from '../app/app-element.ts'
import { DialogElement } from '../app/dialog-element.ts'
import { formDialog } from '../app/form-dialog.ts'
import { Submission } from '../app/submission.ts'
import { passwordView } from '../design/field.ts'

/** Asks for the owner's password. Resolves with it, or with null if the dialog is closed. */
export const askPasswordIn =
  (host: AppElement): AskPassword =>
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

  private readonly submission = new Submission(this)

  private readonly submit = async (data: FormData): Promise<boolean> => {
    const password = String(data.get('confirming-password'))
    if (password !== '') this.answer(password)
    return password !== ''
  }

  override render() {
    return formDialog(this, this.submission, {
      heading: 'Enter your password',
      action: ['Save', 'Save'],
      submit: this.submit,
      fields: html`<p>${this.text}</p>
        ${passwordView({ name: 'confirming-password', label: 'Your password', error: this.error, autofocus: true })}`,
    })
  }
}
