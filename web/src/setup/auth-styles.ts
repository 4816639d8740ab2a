import { css, html, type TemplateResult } from 'lit'

/** For install, setup and sign-in: one card in the middle of the page. */
export const authStyles = css`
  .auth {
    display: grid;
    align-content: center;
    justify-items: center;
    min-height: 100dvh;
    padding: var(--space-5) var(--space-4) max(var(--space-5), env(safe-area-inset-bottom));
  }
  .auth-card {
    width: min(26rem, 100%);
    padding: var(--space-6);
  }
  .auth-card > img {
    display: block;
    width: 2.75rem;
    height: 2.75rem;
    margin-bottom: var(--space-4);
  }
  .auth h1 {
    font-size: var(--text-xl);
    font-weight: 650;
    line-height: 1.25;
  }
  .auth .lead {
    margin: var(--space-2) 0 var(--space-5);
    color: var(--ink-soft);
  }
  .auth .optional[open] > summary {
    margin-bottom: var(--space-4);
  }
  @media (max-width: 30rem) {
    .auth {
      align-content: start;
      padding: 0;
    }
    .auth-card {
      min-height: 100dvh;
      border: 0;
      border-radius: 0;
      box-shadow: none;
      padding: var(--space-6) var(--space-5);
      background: none;
    }
  }
`

/** The card, with the mark of the product above its content. */
export function authView(content: TemplateResult): TemplateResult {
  return html`<main class="auth">
    <div class="card auth-card">
      <img src="/favicon.svg" alt="" width="44" height="44" />
      ${content}
    </div>
  </main>`
}
