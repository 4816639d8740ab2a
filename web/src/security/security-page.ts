import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { SecurityCheck } from '../../../src/http/contract/security.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { plural } from '../design/format.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'

/** For changes of the environment and of files, which no event announces. */
const refreshMs = 30_000

const states: Readonly<Record<SecurityCheck['status'], readonly [text: string, icon: IconName]>> = {
  problem: [msg`Problem`, 'failed'],
  warning: [msg`Warning`, 'warning'],
  ok: [msg`In order`, 'done'],
}

/** What protects the service, the worst first: each check is in order or says what to do. */
@customElement('dg-security-page')
export class DgSecurityPage extends AppElement {
  static override readonly styles = css`
    .summary {
      margin-bottom: var(--space-1);
      font-size: var(--text-lg);
      font-weight: 600;
    }
    li > dg-icon,
    .summary dg-icon {
      --icon-size: 1.25rem;
    }
    li > dg-icon {
      margin-top: 0.15em;
    }
    .ok > dg-icon {
      color: var(--success);
    }
    .warning > dg-icon {
      color: var(--warning);
    }
    .problem > dg-icon {
      color: var(--danger);
    }
    h2 {
      font-size: var(--text-md);
      font-weight: 550;
      line-height: 1.4;
    }
    .remedy {
      margin-top: var(--space-1);
      font-size: var(--text-sm);
    }
  `
  private readonly checks = new Loaded<readonly SecurityCheck[]>(this, {
    fetch: async (signal) => (await this.app.http.get('/api/security', { signal })).checks,
    concerns: (type) => type === 'settings.changed',
    againMs: () => refreshMs,
  })

  override render() {
    return html`<dg-page heading=${msg`Security`}>
      <a class="back" href="/settings"><dg-icon name="chevron"></dg-icon>${msg`Settings`}</a>
      ${loadedView(this.checks, msg`the checks`, checksView)}
    </dg-page>`
  }
}

function checksView(checks: readonly SecurityCheck[]): TemplateResult {
  const open = checks.filter(({ status }) => status !== 'ok')
  const worst = open[0]?.status ?? 'ok'
  return html`
    <p class="beside summary ${worst}" role="status">
      <dg-icon name=${states[worst][1]}></dg-icon>
      ${open.length === 0 ? msg`Everything is in order` : msg`${plural(open.length, msg`thing`, msg`things`)} to mend`}
    </p>
    <p class="soft intro">${msg`What protects Delegate. From the shell:`} <code>npm run doctor</code>,
      <code>delegate doctor</code></p>
    <ul class="list cards" aria-label=${msg`Checks`}>
      ${checks.map(checkView)}
    </ul>
  `
}

function checkView({ title, status, detail, remedy }: SecurityCheck): TemplateResult {
  const [text, icon] = states[status]
  return html`<li class=${status}>
    <dg-icon name=${icon}></dg-icon>
    <div class="what">
      <h2>${title}<span class="visually-hidden"> (${text})</span></h2>
      <p class="soft">${detail}</p>
      ${remedy === null ? nothing : html`<p class="remedy">${remedy}</p>`}
    </div>
  </li>`
}
