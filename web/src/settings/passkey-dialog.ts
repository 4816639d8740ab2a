import { html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { addPasskey } from '../api/passkeys.ts'
import { type Form, FormDialog, textIn } from '../app/form-dialog.ts'
import { fieldView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { deviceText } from './device.ts'

/** Adds a passkey under a name. */
@customElement('dg-passkey-dialog')
export class DgPasskeyDialog extends FormDialog {
  /** Called once the passkey is added. */
  @property({ attribute: false }) onAdded!: () => void

  protected override async submit(data: FormData): Promise<boolean> {
    const name = textIn(data, 'passkey-name')
    const isAdded = await this.submission.send(() => addPasskey(this.app.http, name), {
      'passkey-name': name === '' && msg`Enter a name.`,
    })
    if (isAdded) this.onAdded()
    return isAdded
  }

  protected override form(): Form {
    return {
      heading: msg`Add a passkey`,
      action: [msg`Continue`, msg`Waiting for your device…`],
      fields: html`<p>${msg`Your browser will ask for your fingerprint, face, PIN or security key.`}</p>
        ${fieldView({
          name: 'passkey-name',
          label: msg`Name`,
          value: deviceText(navigator.userAgent),
          hint: msg`To tell your passkeys apart.`,
          error: this.submission.errors['passkey-name'],
        })}`,
    }
  }
}
