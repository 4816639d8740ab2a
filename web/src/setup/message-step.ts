import { html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { guard } from 'lit/directives/guard.js'
import { copyWithToast } from '../app/copy.ts'
import { LightElement } from '../app/light-element.ts'
import { newId } from '../app/platform.ts'
import { fieldView, problemView } from '../design/field.ts'
import { createMarkdown } from '../design/markdown.ts'
import { msg } from '../design/msg.ts'
import '../services/first-messages.ts'

/** Sends the first message, which shows that the setup works. Fires `answered`. */
@customElement('dg-message-step')
export class DgMessageStep extends LightElement {
  /** The owner goes on. */
  @property({ attribute: false }) done!: () => void
  @state() private said = ''
  @state() private answer: string | null = null
  private readonly markdown = createMarkdown((code) => void copyWithToast(code, msg`Copied`, this.app.toast))

  private readonly submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (this.answer !== null) {
      this.done()
      return
    }
    void this.say(this.querySelector<HTMLInputElement>('#first-message')?.value.trim() ?? '')
  }

  private async say(text: string): Promise<void> {
    this.said = text
    await this.submission.send(
      async () => {
        const { reply } = await this.app.http.post('/api/chat', {
          body: { content: text, clientMessageId: newId() },
        })
        this.answer = reply.text
        this.dispatchEvent(new Event('answered'))
      },
      { 'first-message': text === '' && msg`Enter a message, or choose one.` },
    )
    if (text === '') return
    await this.updateComplete
    this.querySelector<HTMLElement>('.primary')?.focus()
  }

  override render() {
    const { answer } = this
    const { busy, problem, errors } = this.submission
    return html`<form class="form" novalidate @submit=${this.submit}>
      ${problemView(problem)}
      ${
        answer === null
          ? html`${fieldView({ name: 'first-message', label: msg`Say something`, error: errors['first-message'] })}
              <dg-first-messages
                .app=${this.app}
                .names=${['help', 'memory']}
                .busy=${busy}
                @say=${({ detail }: CustomEvent<string>) => void this.say(detail)}
              ></dg-first-messages>`
          : nothing
      }
      <div class="stack step-talk" role="status">
        ${this.said !== '' && (busy || answer !== null) ? html`<p class="on owner">${this.said}</p>` : nothing}
        ${busy ? html`<p class="delegate">${msg`Thinking…`}</p>` : nothing}
        ${
          answer === null
            ? nothing
            : html`<div class="delegate prose" dir="auto">${guard([answer], () => this.markdown(answer))}</div>`
        }
      </div>
      <div class="actions step-actions">
        ${
          answer === null
            ? html`<button class="button quiet" type="button" ?disabled=${busy} @click=${this.done}>${msg`Skip`}</button>`
            : nothing
        }
        <button class="button primary" ?disabled=${busy}>${answer === null ? msg`Send` : msg`Go to your timeline`}</button>
      </div>
    </form>`
  }
}
