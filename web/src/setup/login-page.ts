import { html, nothing } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { Refused } from '../api/http.ts'
import { canUsePasskey, signInWithPasskey } from '../api/passkeys.ts'
import { LightElement } from '../app/light-element.ts'
import { offlineCopy } from '../app/offline-copy.ts'
import { codeView, passkeyButton, passwordView, problemView, usernameView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { authStyles, authView } from './auth-styles.ts'

@customElement('dg-login-page')
export class DgLoginPage extends LightElement {
  protected override readonly sheets = [authStyles]
  /** Whether the service has asked for a code. */
  @state() private needsCode = false
  /** Whether a passkey may sign in here. */
  @state() private hasPasskey = false

  override firstUpdated(): void {
    this.field()?.focus()
    void this.skip()
  }

  /** Skips the form if the owner is already signed in, as in another tab. */
  private async skip(): Promise<void> {
    try {
      const { authenticated } = await this.app.http.get('/auth/status')
      if (authenticated && this.isConnected && !this.submission.busy) return this.app.enter()
      // The session may have ended while no page was open.
      if (!authenticated) await offlineCopy.clear().catch(() => undefined)
      this.hasPasskey = await canUsePasskey(this.app.http)
    } catch {
      // Show the form. It reports the error when submitted.
    }
  }

  private field(): HTMLInputElement | null {
    return this.querySelector<HTMLInputElement>('#password')
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const password = this.field()?.value ?? ''
    const code = this.querySelector<HTMLInputElement>('#code')?.value.trim() ?? ''
    const isSignedIn = await this.submission.send(
      () => this.app.http.post('/login', { body: { password, ...(code === '' ? {} : { code }) } }),
      {
        password: password === '' && msg`Enter your password.`,
        code: this.needsCode && code === '' && msg`Enter a code.`,
      },
      this.say,
    )
    if (isSignedIn) return this.app.enter()
    await this.updateComplete
    const isCodeNext = this.needsCode && this.submission.errors.password === undefined
    const next = isCodeNext ? this.querySelector<HTMLInputElement>('#code') : this.field()
    next?.focus()
    next?.select()
  }

  private readonly usePasskey = async (): Promise<void> => {
    const isSignedIn = await this.submission.send(() => signInWithPasskey(this.app.http), {}, this.say)
    if (isSignedIn) this.app.enter()
  }

  /** Other words for a refusal, by field or for the whole form. */
  private readonly say = ({
    problem: { status, code },
  }: Refused): Record<string, string> | string | undefined => {
    if (code === 'second_factor_required') {
      this.needsCode = true
      return {}
    }
    if (code === 'wrong_code') return { code: msg`Wrong code, or one that was used before.` }
    if (code === 'wrong_passkey') return msg`The passkey was not accepted.`
    return status === 401 ? { password: msg`Wrong password. Try again.` } : undefined
  }

  override render() {
    const { busy, errors, problem } = this.submission
    return authView(html`
      <h1>${msg`Welcome back`}</h1>
      <p class="lead">
        ${msg`${this.app.isSessionLost() ? msg`Your session has expired or was ended elsewhere. ` : ''}Sign in to your delegate.`}
      </p>
      <form class="form" novalidate @submit=${this.submit}>
        ${problemView(problem)}
        ${usernameView}
        ${passwordView({
          name: 'password',
          label: msg`Password`,
          autocomplete: 'current-password',
          error: errors.password,
        })}
        ${
          this.needsCode
            ? codeView({
                name: 'code',
                label: msg`Code`,
                hint: msg`From your authenticator app. Without it, enter one of your recovery codes.`,
                error: errors.code,
              })
            : nothing
        }
        <button class="button primary wide" ?disabled=${busy}>
          ${busy ? msg`Signing in…` : msg`Sign in`}
        </button>
        ${this.hasPasskey ? passkeyButton('wide', busy, this.usePasskey) : nothing}
      </form>
    `)
  }
}
