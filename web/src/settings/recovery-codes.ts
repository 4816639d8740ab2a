import { css, html, type TemplateResult } from 'lit'
import { copyWithToast } from '../app/copy.ts'
import type { Toaster } from '../design/toaster.ts'

export const recoveryCodesStyles = css`
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

/** Recovery codes, which the service shows only once, with buttons to keep them. */
export function recoveryCodesView(codes: readonly string[], toast: Toaster): TemplateResult {
  const text = `${codes.join('\n')}\n`
  return html`<p>
      Keep these recovery codes somewhere safe, such as your password manager. Each signs you in once when you do not
      have your phone. They are not shown again.
    </p>
    <ul class="codes" aria-label="Recovery codes">
      ${codes.map((code) => html`<li>${code}</li>`)}
    </ul>
    <div class="actions">
      <button class="button small" type="button" @click=${() => copyWithToast(text, 'Copied', toast)}>
        <dg-icon name="copy"></dg-icon>Copy
      </button>
      <a
        class="button small"
        href="data:text/plain;charset=utf-8,${encodeURIComponent(`Recovery codes for Delegate at ${location.host}\n\n${text}`)}"
        download="delegate-recovery-codes.txt"
      >
        <dg-icon name="download"></dg-icon>Download
      </a>
    </div>`
}
