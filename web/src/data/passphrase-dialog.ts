import { html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { type Form, FormDialog } from '../app/form-dialog.ts'
import { passwordView } from '../design/field.ts'
import { msg } from '../design/msg.ts'

const leastChars = 12

/** Asks for the passphrase of a backup that is downloaded. */
@customElement('dg-passphrase-dialog')
export class DgPassphraseDialog extends FormDialog {
  @property({ attribute: false }) onChosen!: (passphrase: string) => Promise<unknown>

  protected override submit(data: FormData): Promise<boolean> {
    const passphrase = String(data.get('passphrase'))
    const isWrong = passphrase.trim() !== passphrase || passphrase.length < leastChars
    return this.submission.send(() => this.onChosen(passphrase), {
      passphrase: isWrong && msg`Enter at least ${leastChars} characters, without a space at either end.`,
    })
  }

  protected override form(): Form {
    return {
      heading: msg`Passphrase of the backup`,
      action: [msg`Make the backup`, msg`One moment…`],
      fields: html`<p>
          ${msg`The backup is encrypted. Nobody can restore it without this passphrase, so keep it somewhere else.`}
        </p>
        ${passwordView({
          name: 'passphrase',
          label: msg`Passphrase`,
          error: this.submission.errors.passphrase,
          autocomplete: 'new-password',
        })}`,
    }
  }
}
