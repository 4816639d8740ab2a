import { html, nothing } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { LightElement } from '../app/light-element.ts'
import { newId } from '../app/platform.ts'
import { fieldView, problemView } from '../design/field.ts'

const suggestions = ['Hello! What can you do for me?', 'Remember that I take my coffee black']

/** Sends the first message, which shows that the setup works. Fires `answered`, then `done` when the owner goes on. */
@customElement('dg-message-step')
export class DgMessageStep extends LightElement {
  @state() private said = ''
  @state() private answer: string | null = null

  private readonly submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (this.answer !== null) {
      this.done()
      return
    }
    const text = this.querySelector<HTMLInputElement>('#first-message')?.value.trim() ?? ''
    void this.say(text === '' ? 'Hello!' : text)
  }

  private async say(text: string): Promise<void> {
    this.said = text
    await this.submission.send(async () => {
      const { reply } = await this.app.http.post('/api/chat', {
        body: { content: text, clientMessageId: newId() },
      })
      this.answer = reply.text
      this.dispatchEvent(new Event('answered'))
    })
    await this.updateComplete
    this.querySelector<HTMLElement>('.primary')?.focus()
  }

  private done(): void {
    this.dispatchEvent(new Event('done'))
  }

  override render() {
    const { answer } = this
    const { busy, problem } = this.submission
    return html`<form class="form" novalidate @submit=${this.submit}>
      ${problemView(problem)}
      ${
        answer === null
          ? html`${fieldView({ name: 'first-message', label: 'Say something', placeholder: 'Hello!' })}
              <div class="actions">
                ${suggestions.map(
                  (text) =>
                    html`<button class="button small" type="button" ?disabled=${busy} @click=${() => void this.say(text)}>${text}</button>`,
                )}
              </div>`
          : nothing
      }
      <div class="step-talk" role="status">
        ${this.said !== '' && (busy || answer !== null) ? html`<p class="on owner">${this.said}</p>` : nothing}
        ${busy ? html`<p class="delegate">Thinking…</p>` : nothing}
        ${answer === null ? nothing : html`<p class="delegate">${answer}</p>`}
      </div>
      <div class="step-actions">
        ${
          answer === null
            ? html`<button class="button quiet" type="button" ?disabled=${busy} @click=${() => this.done()}>Skip</button>`
            : nothing
        }
        <button class="button primary" ?disabled=${busy}>${answer === null ? 'Send' : 'Go to your timeline'}</button>
      </div>
    </form>`
  }
}
