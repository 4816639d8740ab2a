import type { LitElement } from 'lit'
import { explain, Refused } from '../api/http.ts'
import { msg } from '../design/msg.ts'

/** Errors by the name of their field. */
type FieldErrors = Readonly<Record<string, string>>
/** The same, where `false` stands for none. */
type Checked = Readonly<Record<string, string | false>>

/**
 * The state of a form that is sent to the service: whether the request runs, and why it failed. An error is shown
 * beside the field that the service names, or else as the problem of the form as a whole.
 */
export class Submission {
  busy = false
  problem = ''
  errors: FieldErrors = {}
  private readonly host: LitElement

  constructor(host: LitElement) {
    this.host = host
    host.addEventListener('input', this.fieldChanged)
  }

  /**
   * Sends the form, unless a request is in progress or `checked` says what is wrong with it. True if it succeeded.
   * `say` puts a refusal in other words: by field, or for the form as a whole.
   */
  async send(
    act: () => Promise<unknown>,
    checked: Checked = {},
    say?: (refused: Refused) => FieldErrors | string | undefined | false,
  ): Promise<boolean> {
    if (this.busy) return false
    const wrong = Object.entries(checked).filter((entry): entry is [string, string] => entry[1] !== false)
    this.show(Object.fromEntries(wrong))
    if (wrong.length > 0) return false
    this.busy = true
    try {
      await act()
      return true
    } catch (error) {
      const said = (error instanceof Refused && say?.(error)) ?? false
      this.show(said === false ? (this.named(error) ?? explain(error)) : said)
      return false
    } finally {
      this.busy = false
      this.host.requestUpdate()
    }
  }

  /** Shows errors by field and focuses the first, or one problem of the form as a whole. */
  show(wrong: FieldErrors | string): void {
    this.problem = typeof wrong === 'string' ? wrong : ''
    this.errors = typeof wrong === 'string' ? {} : wrong
    this.host.requestUpdate()
    const [first] = Object.keys(this.errors)
    if (first !== undefined) void this.focus(first)
  }

  /** Withdraws the error of a field that the owner changes. */
  private readonly fieldChanged = (event: Event): void => {
    // Seen from the host, the event's target is the host.
    const [field] = event.composedPath()
    const name = field instanceof Element ? field.getAttribute('name') : null
    if (name === null || !(name in this.errors)) return
    const { [name]: _fixed, ...errors } = this.errors
    this.errors = errors
    this.host.requestUpdate()
  }

  /** The errors that the service names, if they concern fields of this form. */
  private named(error: unknown): FieldErrors | undefined {
    const named = error instanceof Refused ? error.errors : []
    const known = named
      .map(({ path, message }) => [path.replace(/^entries\./, ''), message] as const)
      .filter(([name]) => this.field(name) !== null)
      .map(([name, message]) => [name, msg`It ${message}.`])
    return known.length === 0 ? undefined : Object.fromEntries(known)
  }

  private field(name: string): HTMLElement | null {
    return this.host.renderRoot.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`)
  }

  private async focus(name: string): Promise<void> {
    await this.host.updateComplete
    const field = this.field(name)
    field?.closest('details')?.setAttribute('open', '')
    field?.focus()
    // A field that has the focus may still lie under a bar.
    field?.scrollIntoView({ block: 'nearest' })
  }
}
