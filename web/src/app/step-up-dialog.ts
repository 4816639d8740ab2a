import { html, type LitElement } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { Http } from '../api/routes.ts'
import { DialogElement } from '../design/dialog.ts'
import { passwordView, usernameView } from '../design/field.ts'
import { formDialog } from './form-dialog.ts'
import { Submission } from './submission.ts'

/** Asks the owner to prove who they are. Resolves to false if they close the dialog. */
export function askToStepUp(host: LitElement, http: Http): Promise<boolean> {
  return new Promise((resolve) => {
    const dialog = Object.assign(new DgStepUpDialog(), { http })
    dialog.addEventListener('close', () => resolve(dialog.isProven))
    dialog.openIn(host)
  })
}

@customElement('dg-step-up-dialog')
export class DgStepUpDialog extends DialogElement {
  @property({ attribute: false }) http!: Http
  isProven = false
  private readonly submission = new Submission(this)

  private readonly submit = async (data: FormData): Promise<boolean> => {
    const password = String(data.get('step-up-password'))
    this.isProven = await this.submission.send(
      () => this.http.post('/api/auth/step-up', { body: { password } }),
      password === '' ? { 'step-up-password': 'Enter your password.' } : {},
      ({ problem }) =>
        problem.code === 'wrong_password' ? { 'step-up-password': 'That is not your password.' } : undefined,
    )
    return this.isProven
  }

  override render() {
    return formDialog(this, this.submission, {
      heading: 'Confirm that it is you',
      action: ['Confirm', 'Confirming…'],
      submit: this.submit,
      fields: html`<p>You signed in more than five minutes ago, and this is a sensitive change.</p>
        ${usernameView}
        ${passwordView({
          name: 'step-up-password',
          label: 'Your password',
          error: this.submission.errors['step-up-password'],
          autofocus: true,
        })}`,
    })
  }
}
