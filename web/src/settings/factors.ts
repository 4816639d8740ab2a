import { css, html, LitElement, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { AnswerOf } from '../api/routes.ts'
import type { App } from '../app/app.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { cards } from '../design/cards.ts'
import { controls } from '../design/controls.ts'
import { fullTimeText, plural } from '../design/format.ts'
import { relativeText } from '../design/relative-time.ts'
import { DgRecoveryCodesDialog, DgTotpDialog } from './totp-dialog.ts'

type FactorsState = AnswerOf<'/api/auth/factors'>

/** Fewer recovery codes than this call for new ones. */
const fewCodes = 3

/** What the owner can sign in with besides the password. */
@customElement('dg-factors')
export class DgFactors extends LitElement {
  static override readonly styles = [
    controls,
    cards,
    css`
      li {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--space-2) var(--space-3);
        min-height: 2.75rem;
        padding: var(--space-3) 0;
      }
      li:first-child {
        padding-top: 0;
      }
      li:last-child {
        padding-bottom: 0;
      }
      li + li {
        border-top: 1px solid var(--line);
      }
      li > dg-icon {
        --icon-size: 1.375rem;
        color: var(--ink-faint);
      }
      .what {
        flex: 1 1 14rem;
      }
      .few {
        color: var(--danger);
      }
    `,
  ]
  @property({ attribute: false }) app!: App
  @state() private busy = false
  readonly factors = new Loaded<FactorsState>(this, {
    fetch: () => this.app.http.get('/api/auth/factors'),
    concerns: (type) => type.startsWith('owner.factor.') || type === 'owner.recovery-code.used',
  })

  /** Runs one action at a time, and shows why if it fails. */
  private async attempt(act: () => Promise<unknown>): Promise<void> {
    this.busy = true
    await this.app.attempt(act)
    this.busy = false
  }

  private readonly addTotp = (): Promise<void> =>
    this.attempt(async () => {
      const begun = await this.app.http.post('/api/auth/totp')
      const onAdded = () => {
        this.app.toast('Authenticator app added')
        void this.factors.reload()
      }
      Object.assign(new DgTotpDialog(), { app: this.app, begun, onAdded }).openIn(this)
    })

  private readonly renewCodes = (): void =>
    askToConfirm(this, {
      heading: 'Make new recovery codes?',
      content: 'The codes that you have now stop working.',
      action: 'Make new codes',
      look: 'primary',
      run: async () => {
        const { recoveryCodes: codes } = await this.app.http.post('/api/auth/recovery-codes')
        Object.assign(new DgRecoveryCodesDialog(), { app: this.app, codes }).openIn(this)
        await this.factors.reload()
      },
    })

  private readonly removeTotp = (): void =>
    askToConfirm(this, {
      heading: 'Remove the authenticator app?',
      content: 'Your password alone will sign you in again. The recovery codes stop working.',
      action: 'Remove',
      run: async () => {
        await this.app.http.del('/api/auth/totp')
        this.app.toast('Authenticator app removed')
        await this.factors.reload()
      },
    })

  override render() {
    return loadedView(
      this.factors,
      'ways to sign in',
      (state) => html`<ul class="list" aria-label="Ways to sign in">${this.totpView(state)}</ul>`,
    )
  }

  private totpView({ totp, recoveryCodesLeft }: FactorsState): TemplateResult {
    if (totp === null)
      return html`<li>
        <dg-icon name="handheld"></dg-icon>
        <div class="what">
          <p>Authenticator app</p>
          <p class="soft">Off. With it, signing in also needs a code from your phone.</p>
        </div>
        <button class="button small" ?disabled=${this.busy} @click=${this.addTotp}>Add an app</button>
      </li>`
    const left = `${plural(recoveryCodesLeft, 'recovery code')} left`
    return html`<li>
      <dg-icon name="handheld"></dg-icon>
      <div class="what">
        <p>Authenticator app</p>
        <p class="facts">
          <time datetime=${totp.addedAt} title=${fullTimeText(totp.addedAt)}>Added ${relativeText(totp.addedAt)}</time>
          <span class=${recoveryCodesLeft < fewCodes ? 'few' : ''}>${left}</span>
        </p>
      </div>
      <button class="button small" @click=${this.renewCodes}>New recovery codes</button>
      <button class="button small" aria-label="Remove the authenticator app" @click=${this.removeTotp}>Remove</button>
    </li>`
  }
}
