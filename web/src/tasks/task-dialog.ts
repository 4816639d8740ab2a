import { css, html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { DialogElement } from '../app/dialog-element.ts'
import { formDialog, textIn } from '../app/form-dialog.ts'
import { Submission } from '../app/submission.ts'
import { areaView, choiceView, fieldView } from '../design/field.ts'

const deliveryChannels = ['chat', 'sms', 'webhook'] as const

/** Hands a task to the coding assistant. */
@customElement('dg-task-dialog')
export class DgTaskDialog extends DialogElement {
  static override readonly styles = css`
    textarea {
      min-height: 9rem;
    }
  `
  @property({ attribute: false }) onDispatched!: () => void
  private readonly submission = new Submission(this)

  private readonly submit = (data: FormData): Promise<boolean> => {
    const title = textIn(data, 'title')
    const prompt = textIn(data, 'prompt')
    const notify = deliveryChannels.find((channel) => channel === textIn(data, 'notify'))
    return this.submission.send(
      async () => {
        await this.app.http.post('/api/tasks', { body: { title, prompt, ...(notify && { notify }) } })
        this.app.toast('Task handed over')
        this.onDispatched()
      },
      {
        ...(title === '' ? { title: 'Enter a name.' } : {}),
        ...(prompt === '' ? { prompt: 'Describe what to do.' } : {}),
      },
    )
  }

  override render() {
    const { errors } = this.submission
    return formDialog(this, this.submission, {
      heading: 'Hand over a task',
      action: ['Hand over', 'Handing over…'],
      submit: this.submit,
      fields: html`
        ${fieldView({ name: 'title', label: 'Name', placeholder: 'Update the dependencies', error: errors.title })}
        ${areaView({
          name: 'prompt',
          label: 'What the coding assistant should do',
          maxLength: 20_000,
          hint: 'The assistant cannot see your conversation. Include everything that it needs to know.',
          error: errors.prompt,
        })}
        ${choiceView('notify', 'Notify me when done', [
          ['', 'As set in Settings'],
          ['chat', 'In the chat'],
          ['sms', 'By text message'],
          ['webhook', 'By webhook'],
        ])}
      `,
    })
  }
}
