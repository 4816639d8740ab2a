import { html, nothing } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { hasPasskeys, proveWithPasskey } from '../api/passkeys.ts'
import { codeView, passkeyButton, passwordView, usernameView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { type Form, FormDialog, textIn } from './form-dialog.ts'

/** Asks the owner to prove who they are. */
@customElement('dg-step-up-dialog')
export class DgStepUpDialog extends FormDialog {
  /** Whether the owner has an authenticator app. */
  @state() private hasCodes = false
  /** Whether a passkey works on this page. */
  @state() private hasPasskey = false

  override connectedCallback(): void {
    super.connectedCallback()
    void this.lookUp()
  }

  private async lookUp(): Promise<void> {
    try {
      const { totp, passkeys, passkeyDomain } = await this.app.http.get('/api/auth/factors')
      this.hasCodes = totp !== null
      this.hasPasskey = hasPasskeys() && passkeys.some(({ domain }) => domain === passkeyDomain)
    } catch {
      // The password is always a way.
    }
  }

  protected override submit(data: FormData): Promise<boolean> {
    const password = String(data.get('step-up-password'))
    const code = textIn(data, 'step-up-code')
    return this.submission.send(
      () => this.app.http.post('/api/auth/step-up', { body: password === '' ? { code } : { password } }),
      { 'step-up-password': password === '' && code === '' && msg`Enter your password.` },
      ({ problem }) => wrong[problem.code],
    )
  }

  private readonly usePasskey = async (): Promise<void> => {
    this.isDone = await this.submission.send(() => proveWithPasskey(this.app.http))
    if (this.isDone) this.close()
  }

  protected override form(): Form {
    const { errors, busy } = this.submission
    return {
      heading: msg`Confirm that it is you`,
      action: [msg`Confirm`, msg`Confirming…`],
      fields: html`<p>${msg`You signed in more than five minutes ago, and this is a sensitive change.`}</p>
        ${usernameView}
        ${passwordView({
          name: 'step-up-password',
          label: msg`Your password`,
          error: errors['step-up-password'],
        })}
        ${
          this.hasCodes
            ? codeView({
                name: 'step-up-code',
                label: msg`Or a code of your authenticator app`,
                error: errors['step-up-code'],
              })
            : nothing
        }
        ${this.hasPasskey ? passkeyButton('', busy, this.usePasskey) : nothing}`,
    }
  }
}

const wrong: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  wrong_password: { 'step-up-password': msg`That is not your password.` },
  wrong_code: { 'step-up-code': msg`Wrong code, or one that was used before.` },
}
