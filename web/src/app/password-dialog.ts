import { html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { passwordView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import type { AppElement } from './app-element.ts'
import { type Form, FormDialog } from './form-dialog.ts'

type Asking = Pick<Form, 'heading' | 'action'> & {
  readonly text: string
  /** What needs the password. A wrong one is asked for again. */
  readonly run: (password: string) => Promise<unknown>
}

/** Asks for the owner's password, and runs what needs it. Resolves to false if the dialog is closed before. */
export function askForPassword(host: AppElement, asking: Asking): Promise<boolean> {
  return Object.assign(new DgPasswordDialog(), { asking }).ask(host)
}

@customElement('dg-password-dialog')
export class DgPasswordDialog extends FormDialog {
  @property({ attribute: false }) asking!: Asking

  protected override submit(data: FormData): Promise<boolean> {
    const password = String(data.get('password'))
    return this.submission.send(
      () => this.asking.run(password),
      { password: password === '' && msg`Enter your password.` },
      ({ problem }) => problem.code === 'wrong_password' && { password: msg`That is not your password.` },
    )
  }

  protected override form(): Form {
    const error = this.submission.errors.password
    return {
      ...this.asking,
      fields: html`<p>${this.asking.text}</p>
        ${passwordView({ name: 'password', label: msg`Your password`, error })}`,
    }
  }
}
