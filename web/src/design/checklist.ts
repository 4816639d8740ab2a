import { css, html, nothing, type TemplateResult } from 'lit'
import type { ConnectionTest } from '../../../src/http/contract/settings.ts'
import { capitalised } from './format.ts'
import { msg } from './msg.ts'

/** A list of checks: an icon, a name, and what was found. */
export const checklist = css`
  .checks {
    gap: var(--space-2);
  }
  .checks > li {
    display: flex;
    gap: var(--space-2);
    font-size: var(--text-sm);
    line-height: 1.45;
  }
  .checks > li > div {
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .checks strong {
    font-weight: 550;
  }
  .checks > li > dg-icon {
    margin-top: 0.15em;
    color: var(--success);
  }
  .checks > .fails > dg-icon {
    color: var(--danger);
  }
  .checks > .off > dg-icon {
    color: var(--ink-faint);
  }
  .checks > .warns > dg-icon {
    color: var(--warning);
  }
`

/** The steps of a test, with the result of each. */
export function stepsView({ ok, steps }: Pick<ConnectionTest, 'ok' | 'steps'>): TemplateResult {
  return html`<ol class="list checks" aria-label=${ok ? msg`Test passed` : msg`Test failed`}>
    ${steps.map(
      (step) => html`<li class=${step.ok ? '' : 'fails'}>
        <dg-icon name=${step.ok ? 'done' : 'failed'}></dg-icon>
        <div>
          <strong>${capitalised(step.name)}</strong>${step.ok ? nothing : html`<span class="visually-hidden">${msg`: failed`}</span>`}
          <div class="soft">${step.detail}</div>
        </div>
      </li>`,
    )}
  </ol>`
}
