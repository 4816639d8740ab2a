import { html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { App } from '../app/app.ts'
import { Submission } from '../app/submission.ts'
import { passwordView, problemView, usernameView } from '../design/field.ts'
import { LightElement } from '../design/light-element.ts'
import { authStyles, authView } from './auth-styles.ts'

@customElement('dg-login-page')
export class DgLoginPage extends LightElement {
  protected override readonly sheets = [authStyles]
  @property({ attribute: false }) app!: App
  private readonly submission = new Submission(this)

  override firstUpdated(): void {
    this.field()?.focus()
    void this.skip()
  }

  /** Skips the form if the owner is already signed in, as in another tab. */
  private async skip(): Promise<void> {
    try {
      const { authenticated } = await this.app.http.get('/auth/status')
      if (authenticated && this.isConnected && !this.submission.busy) this.app.enter()
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
    const isSignedIn = await this.submission.send(
      () => this.app.http.post('/login', { body: { password } }),
      password === '' ? { password: 'Enter your password.' } : {},
      ({ problem: { status }, retryAfterSeconds }) => {
        if (status === 401) return { password: 'Wrong password. Try again.' }
        return status === 429 ? `Too many attempts. ${waitText(retryAfterSeconds)}` : undefined
      },
    )
    if (isSignedIn) this.app.enter()
    else this.field()?.select()
  }

  override render() {
    const { busy, errors, problem } = this.submission
    return authView(html`
      <h1>Welcome back</h1>
      <p class="lead">
        ${this.app.isSessionLost() ? 'Your session has expired or was ended elsewhere. ' : ''}Sign in to your delegate.
      </p>
      <form novalidate @submit=${this.submit}>
        ${problemView(problem)}
        ${usernameView}
        ${passwordView({
          name: 'password',
          label: 'Password',
          autocomplete: 'current-password',
          error: errors.password,
        })}
        <button class="button primary wide" ?disabled=${busy}>
          ${busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    `)
  }
}

function waitText(seconds: number | null): string {
  if (seconds === null) return 'Try again in a while.'
  if (seconds < 90) return `Try again in ${seconds} seconds.`
  return `Try again in ${Math.ceil(seconds / 60)} minutes.`
}
