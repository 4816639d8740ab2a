import { css, html, nothing } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { copyWithToast } from '../app/copy.ts'
import { DialogElement } from '../app/dialog-element.ts'
import { msg } from '../design/msg.ts'

/** Shows recovery codes, the first ones or those that replace others. The service shows them only once. */
@customElement('dg-recovery-codes-dialog')
export class DgRecoveryCodesDialog extends DialogElement {
  static override readonly styles = css`
    .codes {
      columns: 2;
      margin: var(--space-3) 0;
      padding: var(--space-3) var(--space-4);
      border: 1px solid var(--line);
      border-radius: var(--radius-md);
      background: var(--paper);
      font: 500 var(--text-sm) / 1.9 var(--font-mono);
      list-style: none;
    }
    @media (max-width: 26rem) {
      .codes {
        columns: 1;
      }
    }
  `
  @property({ attribute: false }) codes: readonly string[] = []
  @property({ attribute: false }) areFirst = false

  override render() {
    const { codes, areFirst } = this
    const text = `${codes.join('\n')}\n`
    return html`<dg-dialog filled heading=${areFirst ? msg`Keep your recovery codes` : msg`New recovery codes`}>
      ${areFirst ? nothing : html`<p>${msg`The former ones no longer work.`}</p>`}
      <p>
        ${msg`Keep these recovery codes somewhere safe, such as your password manager. Each signs you in once when you do not have your phone. They are not shown again.`}
      </p>
      <ul class="codes" aria-label=${msg`Recovery codes`}>
        ${codes.map((code) => html`<li>${code}</li>`)}
      </ul>
      <div class="actions">
        <button class="button small" type="button" autofocus @click=${() => copyWithToast(text, msg`Copied`, this.app.toast)}>
          <dg-icon name="copy"></dg-icon>${msg`Copy`}
        </button>
        <a
          class="button small"
          href="data:text/plain;charset=utf-8,${encodeURIComponent(msg`Recovery codes for Delegate at ${location.host}\n\n${text}`)}"
          download="delegate-recovery-codes.txt"
        >
          <dg-icon name="download"></dg-icon>${msg`Download`}
        </a>
      </div>
      <div slot="actions"><button class="button primary" @click=${this.close}>${msg`I have kept them`}</button></div>
    </dg-dialog>`
  }
}
