import { css, html, LitElement } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { passwordView } from '../design/field.ts'

type Question = {
  readonly text: string
  readonly error: string | undefined
  readonly answer: (password: string | null) => void
}

/** Asks for the owner's password before a change that needs it. */
@customElement('dg-password-dialog')
export class DgPasswordDialog extends LitElement {
  static override readonly styles = [
    controls,
    css`
      form {
        display: grid;
        gap: var(--space-4);
      }
    `,
  ]
  @state() private question: Question | null = null
  @state() private shown = false

  /** Resolves with the password, or null if cancelled. `error` explains why the last one was rejected. */
  ask(text: string, error?: string): Promise<string | null> {
    return new Promise((resolve) => {
      this.question = { text, error, answer: resolve }
      void this.updateComplete.then(() => this.input()?.focus())
    })
  }

  private input(): HTMLInputElement | null {
    return this.renderRoot.querySelector('input')
  }

  private answer(password: string | null): void {
    const { question } = this
    this.question = null
    question?.answer(password)
  }

  private readonly submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const input = this.input()
    if (!input || input.value === '') return
    this.answer(input.value)
    input.value = ''
  }

  override render() {
    const { question, shown } = this
    return html`<dg-dialog
      heading="Enter your password"
      .open=${question !== null}
      @close=${() => this.answer(null)}
    >
      <form id="password-question" novalidate @submit=${this.submit}>
        <p>${question?.text}</p>
        ${passwordView({
          name: 'confirming-password',
          label: 'Your password',
          error: question?.error,
          required: true,
          shown,
          onToggle: () => {
            this.shown = !shown
          },
        })}
      </form>
      <div slot="actions">
        <button class="button" type="button" @click=${() => this.answer(null)}>Cancel</button>
        <button class="button primary" form="password-question">Save</button>
      </div>
    </dg-dialog>`
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'dg-password-dialog': DgPasswordDialog
  }
}
