import { css, html } from 'lit'
import { customElement } from 'lit/decorators.js'
import { LightElement } from '../app/light-element.ts'
import { minPasswordLength, passwordView, problemView, usernameView } from '../design/field.ts'
import { msg } from '../design/msg.ts'

type FieldName = 'currentPassword' | 'newPassword'

/** Changes the password. Fires `changed` on success, when all other sessions are revoked. */
@customElement('dg-password-form')
export class DgPasswordForm extends LightElement {
  protected override readonly sheets = [
    css`
      dg-password-form form {
        max-width: 24rem;
      }
      dg-password-form .button {
        justify-self: start;
      }
    `,
  ]

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const { target } = event
    if (!(target instanceof HTMLFormElement)) return
    const data = new FormData(target)
    const currentPassword = String(data.get('currentPassword'))
    const newPassword = String(data.get('newPassword'))
    const isChanged = await this.submission.send(
      () => this.app.http.post('/api/auth/password', { body: { currentPassword, newPassword } }),
      {
        currentPassword: currentPassword === '' && msg`Enter your current password.`,
        newPassword:
          [...newPassword].length < minPasswordLength && msg`Use at least ${minPasswordLength} characters.`,
      },
      ({ problem }) =>
        problem.code === 'wrong_password' && { currentPassword: msg`That is not your password.` },
    )
    if (!isChanged) return
    target.reset()
    this.dispatchEvent(new Event('changed'))
  }

  private passwordField(name: FieldName, label: string, hint: string) {
    return passwordView({
      name,
      label,
      hint,
      autocomplete: name === 'newPassword' ? 'new-password' : 'current-password',
      error: this.submission.errors[name],
    })
  }

  override render() {
    const { busy, problem } = this.submission
    return html`<form class="form" novalidate @submit=${this.submit}>
      ${problemView(problem)}
      ${usernameView}
      ${this.passwordField('currentPassword', msg`Current password`, '')}
      ${this.passwordField('newPassword', msg`New password`, msg`At least ${minPasswordLength} characters. A few random words are strong and easy to remember.`)}
      <button class="button" ?disabled=${busy}>${busy ? msg`Changing…` : msg`Change password`}</button>
    </form>`
  }
}
