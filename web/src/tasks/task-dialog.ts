import { css, html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { type Form, FormDialog, textIn } from '../app/form-dialog.ts'
import { areaView, choiceView, fieldView } from '../design/field.ts'
import { msg } from '../design/msg.ts'

const deliveryChannels = ['chat', 'sms', 'webhook'] as const

/** Hands a task to the coding assistant. */
@customElement('dg-task-dialog')
export class DgTaskDialog extends FormDialog {
  static override readonly styles = css`
    textarea.input {
      min-height: 9rem;
    }
  `
  @property({ attribute: false }) onDispatched!: () => void

  protected override submit(data: FormData): Promise<boolean> {
    const title = textIn(data, 'title')
    const prompt = textIn(data, 'prompt')
    const notify = deliveryChannels.find((channel) => channel === textIn(data, 'notify'))
    return this.submission.send(
      async () => {
        await this.app.http.post('/api/tasks', { body: { title, prompt, ...(notify && { notify }) } })
        this.app.toast(msg`Task handed over`)
        this.onDispatched()
      },
      {
        title: title === '' && msg`Enter a name.`,
        prompt: prompt === '' && msg`Describe what to do.`,
      },
    )
  }

  protected override form(): Form {
    const { errors } = this.submission
    return {
      heading: msg`Hand over a task`,
      action: [msg`Hand over`, msg`Handing over…`],
      fields: html`
        ${fieldView({ name: 'title', label: msg`Name`, placeholder: msg`Update the dependencies`, error: errors.title })}
        ${areaView({
          name: 'prompt',
          label: msg`What the coding assistant should do`,
          maxLength: 20_000,
          hint: msg`The assistant cannot see your conversation. Include everything that it needs to know.`,
          error: errors.prompt,
        })}
        ${choiceView('notify', msg`Notify me when done`, [
          ['', msg`As set in Settings`],
          ['chat', msg`In the chat`],
          ['sms', msg`By text message`],
          ['webhook', msg`By webhook`],
        ])}
      `,
    }
  }
}
