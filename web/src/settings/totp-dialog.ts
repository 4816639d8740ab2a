import { css, html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { type Form, FormDialog, textIn } from '../app/form-dialog.ts'
import { fieldView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { qrCodeView } from './qr-code.ts'

type Begun = { readonly secret: string; readonly uri: string }

/** Adds an authenticator app: shows its secret, and asks for a code of it. */
@customElement('dg-totp-dialog')
export class DgTotpDialog extends FormDialog {
  static override readonly styles = css`
    .qr {
      width: min(12rem, 60vw);
      margin: var(--space-2) auto;
      border-radius: var(--radius-md);
    }
    code {
      font: 500 var(--text-sm) / 1.6 var(--font-mono);
      overflow-wrap: anywhere;
    }
  `
  @property({ attribute: false }) begun!: Begun
  /** Called with the recovery codes once the app is added. */
  @property({ attribute: false }) onAdded!: (codes: readonly string[]) => void

  protected override submit(data: FormData): Promise<boolean> {
    const code = textIn(data, 'totp-code')
    return this.submission.send(
      async () => {
        const { recoveryCodes } = await this.app.http.post('/api/auth/totp/confirm', { body: { code } })
        this.onAdded(recoveryCodes)
      },
      { 'totp-code': code === '' && msg`Enter the code that the app shows.` },
      ({ problem }) =>
        problem.code === 'wrong_code' && {
          'totp-code': msg`Wrong code. Enter the one that the app shows now.`,
        },
    )
  }

  protected override form(): Form {
    const { secret, uri } = this.begun
    return {
      heading: msg`Add an authenticator app`,
      action: [msg`Add`, msg`Adding…`],
      fields: html`<p>${msg`Scan this with an app such as Aegis, 1Password or Google Authenticator.`}</p>
        ${qrCodeView(uri, msg`QR code for the authenticator app`)}
        <p class="soft">
          ${msg`Or open`} <a href=${uri}>${msg`this link`}</a> ${msg`on your phone, or type the key:`}
          <code>${secret.replace(/.{4}(?=.)/g, '$& ')}</code>
        </p>
        ${fieldView({
          name: 'totp-code',
          label: msg`Code that the app shows`,
          autocomplete: 'one-time-code',
          inputmode: 'numeric',
          error: this.submission.errors['totp-code'],
        })}`,
    }
  }
}
