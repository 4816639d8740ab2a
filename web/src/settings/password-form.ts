import { css, html } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { minPasswordLength } from '../data/auth.ts'
import { explain, type Http, Refused } from '../data/http.ts'
import { changePassword } from '../data/sign-ins.ts'
import { passwordView, problemView } from '../design/field.ts'
import { LightElement } from '../design/light-element.ts'

type FieldName = 'currentPassword' | 'newPassword'

/** Changes the password. Fires `changed` on success, when all other sessions are revoked. */
@customElement('dg-password-form')
export class DgPasswordForm extends LightElement {
  protected override readonly sheets = [
    css`
      dg-password-form form {
        display: grid;
        gap: var(--space-4);
        max-width: 24rem;
      }
      dg-password-form .button {
        justify-self: start;
      }
    `,
  ]
  @property({ attribute: false }) http!: Http
  @state() private shown: ReadonlySet<FieldName> = new Set()
  @state() private busy = false
  @state() private errors: Partial<Record<FieldName, string>> = {}
  @state() private problem = ''

  private field(name: FieldName): HTMLInputElement | null {
    return this.querySelector<HTMLInputElement>(`#${name}`)
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (this.busy) return
    const currentPassword = this.field('currentPassword')?.value ?? ''
    const newPassword = this.field('newPassword')?.value ?? ''
    const missing = minPasswordLength - [...newPassword].length
    this.problem = ''
    this.errors = {
      ...(currentPassword === '' ? { currentPassword: 'Enter your current password.' } : {}),
      ...(missing > 0 ? { newPassword: `Use at least ${minPasswordLength} characters.` } : {}),
    }
    if (Object.keys(this.errors).length > 0) return this.focusFirstError()
    this.busy = true
    try {
      await changePassword(this.http, { currentPassword, newPassword })
      this.querySelector('form')?.reset()
      this.dispatchEvent(new Event('changed'))
    } catch (error) {
      this.refused(error)
    } finally {
      this.busy = false
    }
  }

  private refused(error: unknown): void {
    const problem = error instanceof Refused ? error.problem : null
    const named = problem?.errors.find(({ path }) => path === 'newPassword')
    if (problem?.code === 'wrong_password') this.errors = { currentPassword: 'That is not your password.' }
    else if (named) this.errors = { newPassword: `It ${named.message}.` }
    else this.problem = explain(error)
    this.focusFirstError()
  }

  private focusFirstError(): void {
    void this.updateComplete.then(() => {
      const name = this.errors.currentPassword === undefined ? 'newPassword' : 'currentPassword'
      if (this.errors[name] !== undefined) this.field(name)?.focus()
    })
  }

  private passwordField(name: FieldName, label: string, hint: string) {
    return passwordView({
      name,
      label,
      hint,
      autocomplete: name === 'newPassword' ? 'new-password' : 'current-password',
      required: true,
      error: this.errors[name],
      shown: this.shown.has(name),
      onToggle: () => {
        const shown = new Set(this.shown)
        if (!shown.delete(name)) shown.add(name)
        this.shown = shown
      },
    })
  }

  override render() {
    return html`<form novalidate @submit=${(event: SubmitEvent) => void this.submit(event)}>
      ${problemView(this.problem)}
      <input class="visually-hidden" type="text" name="username" value="owner" autocomplete="username" tabindex="-1" aria-hidden="true" readonly />
      ${this.passwordField('currentPassword', 'Current password', '')}
      ${this.passwordField('newPassword', 'New password', `At least ${minPasswordLength} characters. A few random words are strong and easy to remember.`)}
      <button class="button" ?disabled=${this.busy}>${this.busy ? 'Changing…' : 'Change password'}</button>
    </form>`
  }
}
