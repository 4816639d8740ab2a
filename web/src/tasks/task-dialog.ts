import { css, html, LitElement, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { explain, type Http, Refused } from '../data/http.ts'
import { dispatchTask } from '../data/tasks.ts'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { fieldView, focusFirstWrong, problemView } from '../design/field.ts'

/** Hands a task to the coding assistant. Fires `dispatched`; stays open with the reason if refused. */
@customElement('dg-task-dialog')
export class DgTaskDialog extends LitElement {
  static override readonly styles = [
    controls,
    css`
      form {
        display: grid;
        gap: var(--space-4);
      }
      textarea {
        min-height: 9rem;
        resize: vertical;
      }
      .actions {
        display: flex;
        justify-content: flex-end;
        gap: var(--space-2);
      }
    `,
  ]
  @property({ attribute: false }) http!: Http
  @property({ type: Boolean }) open = false
  @state() private busy = false
  @state() private problem = ''
  @state() private errors: Readonly<Record<string, string>> = {}

  private readonly closed = (): void => {
    this.problem = ''
    this.errors = {}
    this.dispatchEvent(new Event('close'))
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = event.target
    if (!(form instanceof HTMLFormElement) || this.busy) return
    const data = new FormData(form)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    const title = text('title')
    const prompt = text('prompt')
    const notify = text('notify')
    this.errors = {
      ...(title === '' ? { title: 'Enter a name.' } : {}),
      ...(prompt === '' ? { prompt: 'Describe what to do.' } : {}),
    }
    if (Object.keys(this.errors).length > 0) return focusFirstWrong(this)
    this.busy = true
    this.problem = ''
    try {
      await dispatchTask(this.http, { title, prompt, ...(notify === '' ? {} : { notify }) })
      form.reset()
      this.dispatchEvent(new Event('dispatched'))
    } catch (error) {
      this.takeProblem(error)
      void focusFirstWrong(this)
    } finally {
      this.busy = false
    }
  }

  private takeProblem(error: unknown): void {
    const fields = error instanceof Refused ? error.problem.errors : []
    const known = fields.filter(({ path }) => path === 'title' || path === 'prompt')
    this.errors = Object.fromEntries(known.map(({ path, message }) => [path, message]))
    if (known.length === 0) this.problem = explain(error)
  }

  override render() {
    const { prompt } = this.errors
    return html`<dg-dialog heading="Hand over a task" .open=${this.open} @close=${this.closed}>
      <form novalidate @submit=${(event: SubmitEvent) => void this.submit(event)}>
        ${fieldView({ name: 'title', label: 'Name', placeholder: 'Update the dependencies', error: this.errors.title })}
        <div class="field">
          <label for="prompt">What the coding assistant should do</label>
          <textarea
            class="input"
            id="prompt"
            name="prompt"
            maxlength="20000"
            aria-invalid=${prompt ? 'true' : 'false'}
            aria-describedby="prompt-notes"
          ></textarea>
          <div id="prompt-notes">
            ${
              prompt
                ? html`<div class="error"><dg-icon name="warning"></dg-icon><span>${prompt}</span></div>`
                : html`<div class="hint">The assistant cannot see your conversation. Include everything that it needs to know.</div>`
            }
          </div>
        </div>
        <div class="field">
          <label for="notify">Notify me when done</label>
          <select class="input" id="notify" name="notify">
            <option value="">As set in Settings</option>
            <option value="chat">In the chat</option>
            <option value="sms">By text message</option>
            <option value="webhook">By webhook</option>
          </select>
        </div>
        ${this.problem === '' ? nothing : problemView(this.problem)}
        <div class="actions">
          <button class="button" type="button" @click=${this.closed}>Cancel</button>
          <button class="button primary" ?disabled=${this.busy}>${this.busy ? 'Handing over…' : 'Hand over'}</button>
        </div>
      </form>
    </dg-dialog>`
  }
}
