import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { hasPasskeys } from '../api/passkeys.ts'
import type { AnswerOf } from '../api/routes.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { fullTimeText, plural, relativeText } from '../design/format.ts'
import { DgPasskeyDialog } from './passkey-dialog.ts'
import { DgRecoveryCodesDialog } from './recovery-codes.ts'
import { DgTotpDialog } from './totp-dialog.ts'

type FactorsState = AnswerOf<'/api/auth/factors'>
type Passkey = FactorsState['passkeys'][number]

/** Fewer recovery codes than this call for new ones. */
const fewCodes = 3

/** What the owner can sign in with besides the password. */
@customElement('dg-factors')
export class DgFactors extends AppElement {
  static override readonly styles = css`
    li:first-child {
      padding-top: 0;
    }
    li > dg-icon {
      --icon-size: 1.375rem;
      color: var(--ink-faint);
    }
    .few {
      color: var(--danger);
    }
  `
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
      const onAdded = (codes: readonly string[]) => {
        Object.assign(new DgRecoveryCodesDialog(), { codes, areFirst: true }).openIn(this)
        this.app.toast('Authenticator app added')
        void this.factors.reload()
      }
      Object.assign(new DgTotpDialog(), { begun, onAdded }).openIn(this)
    })

  private readonly renewCodes = (): void =>
    askToConfirm(this, {
      heading: 'Make new recovery codes?',
      content: 'The codes that you have now stop working.',
      action: 'Make new codes',
      look: 'primary',
      run: async () => {
        const { recoveryCodes: codes } = await this.app.http.post('/api/auth/recovery-codes')
        Object.assign(new DgRecoveryCodesDialog(), { codes }).openIn(this)
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

  private readonly addPasskey = (): void => {
    const onAdded = () => {
      this.app.toast('Passkey added')
      void this.factors.reload()
    }
    Object.assign(new DgPasskeyDialog(), { onAdded }).openIn(this)
  }

  private removePasskey({ id, name }: Passkey): void {
    askToConfirm(this, {
      heading: `Remove the passkey “${name}”?`,
      content: 'It no longer signs you in. Your device may still offer it until you delete it there too.',
      action: 'Remove',
      run: async () => {
        await this.app.http.del('/api/auth/passkeys/{id}', { params: { id } })
        this.app.toast('Passkey removed')
        await this.factors.reload()
      },
    })
  }

  override render() {
    return loadedView(
      this.factors,
      'ways to sign in',
      (state) => html`<ul class="list rows" aria-label="Ways to sign in">
        ${this.totpView(state)} ${this.passkeysView(state)}
        ${state.passkeys.map((passkey) => this.passkeyView(passkey, state))}
      </ul>`,
    )
  }

  private passkeysView({ passkeys, passkeyDomain }: FactorsState): TemplateResult {
    const isOffered = passkeyDomain !== null && hasPasskeys()
    return html`<li>
      <dg-icon name="passkey"></dg-icon>
      <div class="what">
        <p>Passkeys</p>
        <p class="soft">
          ${
            isOffered
              ? html`${passkeys.length === 0 ? 'None. ' : ''}A passkey signs you in by fingerprint, face or PIN,
                without password and code.`
              : unavailableText(passkeyDomain)
          }
        </p>
      </div>
      ${isOffered ? html`<button class="button small" @click=${this.addPasskey}>Add a passkey</button>` : nothing}
    </li>`
  }

  private passkeyView(passkey: Passkey, { passkeyDomain }: FactorsState): TemplateResult {
    const { name, domain, addedAt, lastUsedAt } = passkey
    return html`<li>
      <dg-icon name="key"></dg-icon>
      <div class="what">
        <p>${name}</p>
        <p class="facts">
          ${domain === passkeyDomain ? nothing : html`<span>only on ${domain}</span>`}
          <time datetime=${addedAt} title=${fullTimeText(addedAt)}>Added ${relativeText(addedAt)}</time>
          ${
            lastUsedAt === null
              ? html`<span>never used</span>`
              : html`<time datetime=${lastUsedAt} title=${fullTimeText(lastUsedAt)}>used ${relativeText(lastUsedAt)}</time>`
          }
        </p>
      </div>
      <button
        class="button small"
        aria-label="Remove the passkey ${name}"
        @click=${() => this.removePasskey(passkey)}
      >
        Remove
      </button>
    </li>`
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

/** Why this page cannot use passkeys, and what to do. */
function unavailableText(domain: string | null): string {
  if (domain !== null) return 'This browser does not support passkeys.'
  const local = `http://localhost:${location.port || '80'}`
  return `Passkeys need a name and https, or localhost. Set a Public URL with https and open Delegate there, or open ${local} on the machine that runs it.`
}
