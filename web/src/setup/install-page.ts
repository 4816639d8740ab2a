import { html, nothing } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { Refused } from '../api/http.ts'
import { LightElement } from '../app/light-element.ts'
import { rememberSetupStep } from '../app/setup-progress.ts'
import { fieldView, minPasswordLength, passwordView, problemView, usernameView } from '../design/field.ts'
import { plural } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { authStyles, authView } from './auth-styles.ts'

/** First launch: sets the password. All other choices follow on the welcome page. */
@customElement('dg-install-page')
export class DgInstallPage extends LightElement {
  protected override readonly sheets = [authStyles]
  @state() installed = false
  /** The set-up code from the printed link; empty if there was none or it was refused. */
  @state() linkedCode = ''

  protected override connected(signal: AbortSignal): void {
    this.readLink()
    // The printed link may be opened in a tab that already shows this page.
    addEventListener('hashchange', this.readLink, { signal })
  }

  private readonly readLink = (): void => {
    if (location.hash === '') return
    this.linkedCode = location.hash.slice(1)
    this.submission.show({})
    // Keep the code out of the browser history.
    history.replaceState(null, '', location.pathname)
  }

  override firstUpdated(): void {
    this.input('password')?.focus()
  }

  private input(name: string): HTMLInputElement | null {
    return this.querySelector<HTMLInputElement>(`#${name}`)
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const password = this.input('password')?.value ?? ''
    const setupCode = this.linkedCode || (this.input('setupCode')?.value.trim() ?? '')
    const isInstalled = await this.submission.send(
      () => this.install({ password, setupCode }),
      {
        ...passwordErrors(password),
        setupCode: setupCode === '' && msg`Enter the set-up code. The service prints it when it starts.`,
      },
      ({ problem: { status } }) => {
        this.installed = status === 409
        if (status !== 403) return undefined
        const isLinked = this.linkedCode !== ''
        this.linkedCode = ''
        return {
          setupCode: isLinked
            ? msg`This link has expired. Open the latest link that the service printed, or enter its code.`
            : msg`Wrong code. Enter the latest one that the service printed.`,
        }
      },
    )
    if (!isInstalled) return
    rememberSetupStep('timezone')
    this.app.navigate('/welcome')
  }

  /** Also sets the browser's time zone, in case the owner skips the remaining steps. */
  private async install(installation: { password: string; setupCode: string }): Promise<void> {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
    try {
      await this.app.http.post('/api/install', { body: { ...installation, timezone: timeZone } })
    } catch (error) {
      const isZone = error instanceof Refused && error.errors.some(({ path }) => path === 'timezone')
      if (!isZone) throw error
      // The service does not know this zone. The next step asks for it.
      await this.app.http.post('/api/install', { body: installation })
    }
  }

  override render() {
    return authView(this.installed ? this.installedView() : this.formView())
  }

  private installedView() {
    return html`<h1>${msg`Already set up`}</h1>
      <p class="lead">${msg`This delegate already has an owner. If that is you, sign in.`}</p>
      <a class="button primary wide" href="/login">${msg`Sign in`}</a>`
  }

  private formView() {
    const { busy, errors, problem } = this.submission
    return html`
      <h1>${msg`Meet your delegate`}</h1>
      <p class="lead">${msg`Choose a password. Four short steps follow, and you can skip each of them.`}</p>
      <form class="form" novalidate @submit=${this.submit}>
        ${problemView(problem)}
        ${usernameView}
        ${passwordView({
          name: 'password',
          label: msg`Password`,
          autocomplete: 'new-password',
          hint: msg`At least ${minPasswordLength} characters. A few random words are strong and easy to remember.`,
          error: errors.password,
        })}
        ${
          this.linkedCode
            ? nothing
            : fieldView({
                name: 'setupCode',
                label: msg`Set-up code`,
                hint: msg`The service prints the code when it starts, and a link that fills it in.`,
                error: errors.setupCode,
                required: true,
              })
        }
        <button class="button primary wide" ?disabled=${busy}>
          ${busy ? msg`Setting up…` : msg`Set up`}
        </button>
      </form>
    `
  }
}

function passwordErrors(password: string): Readonly<Record<string, string>> {
  const missing = minPasswordLength - [...password].length
  if (missing <= 0) return {}
  const short = msg`Too short. Add ${plural(missing, msg`more character`, msg`more characters`)}.`
  return { password: password === '' ? msg`Choose a password.` : short }
}
