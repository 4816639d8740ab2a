import { html, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { Pointing } from '../../../src/http/contract/telephony.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { problemView } from '../design/field.ts'
import { plural } from '../design/format.ts'
import { msg } from '../design/msg.ts'

/**
 * "Point my number here": shows what would change at the provider, and changes it once the owner confirms.
 * Fires `pointed` after a change, so that the page can rerun its connection test.
 */
@customElement('dg-point-number')
export class DgPointNumber extends AppElement {
  @state() private outcome = ''

  private readonly ask = (): Promise<boolean> => {
    this.outcome = ''
    return this.submission.send(async () => {
      const plan = await this.app.http.get('/api/telephony/number')
      if (plan.changes.length === 0) this.outcome = msg`${plan.number} already points here.`
      else this.confirm(plan)
    })
  }

  private confirm(plan: Pointing): void {
    askToConfirm(this, {
      heading: msg`Point ${plan.number} here?`,
      content: changesView(plan),
      action: msg`Point it here`,
      look: 'primary',
      run: async () => {
        const { number, changes } = await this.app.http.post('/api/telephony/number/point')
        this.outcome = msg`${number} now points here: ${plural(changes.length, msg`address`, msg`addresses`)} changed.`
        this.dispatchEvent(new Event('pointed'))
      },
    })
  }

  override render() {
    const { busy, problem } = this.submission
    return html`
      <div class="actions">
        <button class="button small" type="button" ?disabled=${busy} @click=${this.ask}>
          <dg-icon name="phone"></dg-icon>${busy ? msg`Asking the provider…` : msg`Point my number here`}
        </button>
        <span class="soft" role="status">${this.outcome}</span>
      </div>
      ${problemView(problem)}
    `
  }
}

const webhookNames: Readonly<Record<Pointing['changes'][number]['name'], string>> = {
  voice: msg`voice`,
  SMS: msg`SMS`,
  'call status': msg`call status`,
  'message status': msg`message status`,
}

function changesView({ changes }: Pointing): TemplateResult {
  return html`
    <p>${msg`Calls and texts to this number will only reach this service.`}</p>
    <dl class="form">
      ${changes.map(
        ({ name, from, to }) => html`<div>
          <dt>${webhookNames[name]}</dt>
          <dd class="soft">${from === null ? msg`points nowhere` : html`<del>${from}</del>`}</dd>
          <dd class="soft">${to}</dd>
        </div>`,
      )}
    </dl>
  `
}
