import { css, html, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { Pointing } from '../../../src/http/contract/telephony.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { problemView } from '../design/field.ts'
import { plural } from '../design/format.ts'

/**
 * "Point my number here": shows what would change at the provider, and changes it once the owner confirms.
 * Fires `pointed` after a change, so that the page can rerun its connection test.
 */
@customElement('dg-point-number')
export class DgPointNumber extends AppElement {
  static override readonly styles = css`
    :host {
      display: grid;
      gap: var(--space-3);
    }
  `
  @state() private outcome = ''

  private readonly ask = (): Promise<boolean> => {
    this.outcome = ''
    return this.submission.send(async () => {
      const plan = await this.app.http.get('/api/telephony/number')
      if (plan.changes.length === 0) this.outcome = `${plan.number} already points here.`
      else this.confirm(plan)
    })
  }

  private confirm(plan: Pointing): void {
    askToConfirm(this, {
      heading: `Point ${plan.number} here?`,
      content: changesView(plan),
      action: 'Point it here',
      look: 'primary',
      run: async () => {
        const { number, changes } = await this.app.http.post('/api/telephony/number/point')
        this.outcome = `${number} now points here: ${plural(changes.length, 'address', 'addresses')} changed.`
        this.dispatchEvent(new Event('pointed'))
      },
    })
  }

  override render() {
    const { busy, problem } = this.submission
    return html`
      <div class="actions">
        <button class="button small" type="button" ?disabled=${busy} @click=${this.ask}>
          <dg-icon name="phone"></dg-icon>${busy ? 'Asking the provider…' : 'Point my number here'}
        </button>
        <span class="soft" role="status">${this.outcome}</span>
      </div>
      ${problemView(problem)}
    `
  }
}

function changesView({ changes }: Pointing): TemplateResult {
  return html`
    <p>Calls and texts to this number will only reach this service.</p>
    <dl class="form">
      ${changes.map(
        ({ name, from, to }) => html`<div>
          <dt>${name}</dt>
          <dd class="soft">${from === null ? 'points nowhere' : html`<del>${from}</del>`}</dd>
          <dd class="soft">${to}</dd>
        </div>`,
      )}
    </dl>
  `
}
