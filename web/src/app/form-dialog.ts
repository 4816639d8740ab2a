import { html, type TemplateResult } from 'lit'
import { state } from 'lit/decorators.js'
import { problemView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import type { AppElement } from './app-element.ts'
import { DialogElement } from './dialog-element.ts'

export type Form = {
  readonly heading: string
  readonly fields: unknown
  /** Label of the button that sends the form, and its label meanwhile. */
  readonly action: readonly [idle: string, busy: string]
}

/** A dialog with a form. Stays open with the reason if the form is not accepted. */
export abstract class FormDialog extends DialogElement {
  /** Whether what it asks for was done. */
  protected isDone = false
  @state() protected filled = false

  protected abstract form(): Form

  /** Sends the form. True if it succeeded, which closes the dialog. */
  protected abstract submit(data: FormData): Promise<boolean>

  /** Opens it. Resolves once it is closed, to whether what it asks for was done. */
  ask(host: AppElement): Promise<boolean> {
    return new Promise((resolve) => {
      this.addEventListener('close', () => resolve(this.isDone))
      this.openIn(host)
    })
  }

  private readonly submitted = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const { target } = event
    if (!(target instanceof HTMLFormElement) || !(await this.submit(new FormData(target)))) return
    target.reset()
    this.isDone = true
    this.close()
  }

  private readonly fill = (): void => {
    this.filled = true
  }

  override render(): TemplateResult {
    const { busy, problem } = this.submission
    const { heading, fields, action } = this.form()
    return html`<dg-dialog heading=${heading} ?filled=${this.filled}>
      <form class="form" id="form" novalidate @input=${this.fill} @submit=${this.submitted}>
        ${fields} ${problemView(problem)}
      </form>
      <div slot="actions">
        <button class="button" type="button" @click=${this.close}>${msg`Cancel`}</button>
        <button class="button primary" form="form" ?disabled=${busy}>${action[busy ? 1 : 0]}</button>
      </div>
    </dg-dialog>`
  }
}

/** The trimmed text of a field. */
export const textIn = (data: FormData, name: string): string => String(data.get(name) ?? '').trim()
