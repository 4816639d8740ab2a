import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { hasPasskeys } from '../api/passkeys.ts'
import type { AnswerOf } from '../api/routes.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { fullTimeText, plural, relativeText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
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
        this.app.toast(msg`Authenticator app added`)
        void this.factors.reload()
      }
      Object.assign(new DgTotpDialog(), { begun, onAdded }).openIn(this)
    })

  private readonly renewCodes = (): void =>
    askToConfirm(this, {
      heading: msg`Make new recovery codes?`,
      content: msg`The codes that you have now stop working.`,
      action: msg`Make new codes`,
      look: 'primary',
      run: async () => {
        const { recoveryCodes: codes } = await this.app.http.post('/api/auth/recovery-codes')
        Object.assign(new DgRecoveryCodesDialog(), { codes }).openIn(this)
      },
      reload: this.factors.reload,
    })

  private readonly removeTotp = (): void =>
    askToConfirm(this, {
      heading: msg`Remove the authenticator app?`,
      content: msg`Your password alone will sign you in again. The recovery codes stop working.`,
      action: msg`Remove`,
      run: () => this.app.http.del('/api/auth/totp'),
      done: msg`Authenticator app removed`,
      reload: this.factors.reload,
    })

  private readonly addPasskey = (): void => {
    const onAdded = () => {
      this.app.toast(msg`Passkey added`)
      void this.factors.reload()
    }
    Object.assign(new DgPasskeyDialog(), { onAdded }).openIn(this)
  }

  private removePasskey({ id, name }: Passkey): void {
    askToConfirm(this, {
      heading: msg`Remove the passkey “${name}”?`,
      content: msg`It no longer signs you in. Your device may still offer it until you delete it there too.`,
      action: msg`Remove`,
      run: () => this.app.http.del('/api/auth/passkeys/{id}', { params: { id } }),
      done: msg`Passkey removed`,
      reload: this.factors.reload,
    })
  }

  override render() {
    return loadedView(
      this.factors,
      msg`ways to sign in`,
      (state) => html`<ul class="list rows" aria-label=${msg`Ways to sign in`}>
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
        <p>${msg`Passkeys`}</p>
        <p class="soft">
          ${
            isOffered
              ? html`${msg`${passkeys.length === 0 ? msg`None. ` : ''}A passkey signs you in by fingerprint, face or PIN, without password and code.`}`
              : unavailableText(passkeyDomain)
          }
        </p>
      </div>
      ${isOffered ? html`<button class="button small" @click=${this.addPasskey}>${msg`Add a passkey`}</button>` : nothing}
    </li>`
  }

  private passkeyView(passkey: Passkey, { passkeyDomain }: FactorsState): TemplateResult {
    const { name, domain, addedAt, lastUsedAt } = passkey
    return html`<li>
      <dg-icon name="key"></dg-icon>
      <div class="what">
        <p>${name}</p>
        <p class="facts">
          ${domain === passkeyDomain ? nothing : html`<span>${msg`only on ${domain}`}</span>`}
          <time datetime=${addedAt} title=${fullTimeText(addedAt)}>${msg`Added ${relativeText(addedAt)}`}</time>
          ${
            lastUsedAt === null
              ? html`<span>${msg`never used`}</span>`
              : html`<time datetime=${lastUsedAt} title=${fullTimeText(lastUsedAt)}>${msg`used ${relativeText(lastUsedAt)}`}</time>`
          }
        </p>
      </div>
      <button
        class="button small"
        aria-label=${msg`Remove the passkey ${name}`}
        @click=${() => this.removePasskey(passkey)}
      >
        ${msg`Remove`}
      </button>
    </li>`
  }

  private totpView({ totp, recoveryCodesLeft }: FactorsState): TemplateResult {
    if (totp === null)
      return html`<li>
        <dg-icon name="handheld"></dg-icon>
        <div class="what">
          <p>${msg`Authenticator app`}</p>
          <p class="soft">${msg`Off. With it, signing in also needs a code from your phone.`}</p>
        </div>
        <button class="button small" ?disabled=${this.busy} @click=${this.addTotp}>${msg`Add an app`}</button>
      </li>`
    const left = msg`${plural(recoveryCodesLeft, msg`recovery code`, msg`recovery codes`)} left`
    return html`<li>
      <dg-icon name="handheld"></dg-icon>
      <div class="what">
        <p>${msg`Authenticator app`}</p>
        <p class="facts">
          <time datetime=${totp.addedAt} title=${fullTimeText(totp.addedAt)}>${msg`Added ${relativeText(totp.addedAt)}`}</time>
          <span class=${recoveryCodesLeft < fewCodes ? 'few' : ''}>${left}</span>
        </p>
      </div>
      <button class="button small" @click=${this.renewCodes}>${msg`New recovery codes`}</button>
      <button class="button small" aria-label=${msg`Remove the authenticator app`} @click=${this.removeTotp}>${msg`Remove`}</button>
    </li>`
  }
}

/** Why this page cannot use passkeys, and what to do. */
function unavailableText(domain: string | null): string {
  if (domain !== null) return msg`This browser does not support passkeys.`
  const local = `http://localhost:${location.port || '80'}`
  return msg`Passkeys need a name and https, or localhost. Set a Public URL with https and open Delegate there, or open ${local} on the machine that runs it.`
}
