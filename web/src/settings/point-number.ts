import { css, html, LitElement, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { Pointing } from '../../../src/http/contract/telephony.ts'
import type { Http } from '../api/routes.ts'
import { Submission } from '../app/submission.ts'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { problemView } from '../design/field.ts'
import '../design/icon.ts'
import { plural } from '../design/format.ts'

/**
 * "Point my number here": shows what would change at the provider, and changes it once the owner confirms.
 * Fires `pointed` after a change, so that the page can rerun its connection test.
 */
@customElement('dg-point-number')
export class DgPointNumber extends LitElement {
  static override readonly styles = [
    controls,
    css`
      :host {
        display: grid;
        gap: var(--space-3);
      }
      dl {
        display: grid;
        gap: var(--space-3);
        margin: var(--space-4) 0;
      }
      dt {
        font-weight: 550;
      }
      dt::first-letter {
        text-transform: uppercase;
      }
      dd {
        overflow-wrap: anywhere;
      }
      del {
        text-decoration-thickness: 1px;
      }
    `,
  ]
  @property({ attribute: false }) http!: Http
  /** The changes to confirm while the dialog is open. */
  @state() private plan: Pointing | null = null
  private readonly asking = new Submission(this)
  private readonly pointing = new Submission(this)
  @state() private outcome = ''

  private readonly ask = (): Promise<boolean> => {
    this.outcome = ''
    return this.asking.send(async () => {
      const plan = await this.http.get('/api/telephony/number')
      if (plan.changes.length === 0) this.outcome = `${plan.number} already points here.`
      else this.plan = plan
    })
  }

  private readonly point = async (): Promise<void> => {
    const isDone = await this.pointing.send(async () => {
      const { number, changes } = await this.http.post('/api/telephony/number/point')
      this.outcome = `${number} now points here: ${plural(changes.length, 'address', 'addresses')} changed.`
      this.dispatchEvent(new Event('pointed'))
    })
    if (isDone) this.close()
  }

  private readonly close = (): void => this.renderRoot.querySelector('dg-dialog')?.close()

  private readonly closed = (): void => {
    this.plan = null
    this.pointing.show({})
  }

  override render() {
    const { plan, asking } = this
    return html`
      <div class="actions">
        <button class="button small" type="button" ?disabled=${asking.busy} @click=${this.ask}>
          <dg-icon name="phone"></dg-icon>${asking.busy ? 'Asking the provider…' : 'Point my number here'}
        </button>
        <span class="soft" role="status">${this.outcome}</span>
      </div>
      ${problemView(asking.problem)} ${plan === null ? nothing : this.dialogView(plan)}
    `
  }

  private dialogView(plan: Pointing): TemplateResult {
    const { busy, problem } = this.pointing
    return html`<dg-dialog heading="Point ${plan.number} here?" @close=${this.closed}>
      ${changesView(plan)} ${problemView(problem)}
      <div slot="actions">
        <button class="button" type="button" autofocus @click=${this.close}>Cancel</button>
        <button class="button primary" type="button" ?disabled=${busy} @click=${this.point}>
          ${busy ? 'One moment…' : 'Point it here'}
        </button>
      </div>
    </dg-dialog>`
  }
}

function changesView({ changes }: Pointing) {
  return html`
    <p>Calls and texts to this number will only reach this service.</p>
    <dl>
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
