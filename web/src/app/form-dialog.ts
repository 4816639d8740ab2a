import { html, type TemplateResult } from 'lit'
import { problemView } from '../design/field.ts'
import type { DialogElement } from './dialog-element.ts'
import type { Submission } from './submission.ts'

type FormDialog = {
  readonly heading: string
  readonly fields: unknown
  /** Label of the button that sends the form, and its label meanwhile. */
  readonly action: readonly [idle: string, busy: string]
  /** Sends the form. True if it succeeded, which closes the dialog. */
  readonly submit: (data: FormData) => Promise<boolean>
}

/** A dialog with a form. Stays open with the reason if the form is not accepted. */
export function formDialog(
  dialog: DialogElement,
  { busy, problem, fieldChanged }: Submission,
  { heading, fields, action, submit }: FormDialog,
): TemplateResult {
  const submitted = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const { target } = event
    if (!(target instanceof HTMLFormElement) || !(await submit(new FormData(target)))) return
    target.reset()
    dialog.close()
  }
  return html`<dg-dialog heading=${heading}>
    <form
      class="form"
      id="form"
      novalidate
      @input=${fieldChanged}
      @submit=${(event: SubmitEvent) => void submitted(event)}
    >
      ${fields} ${problemView(problem)}
    </form>
    <div slot="actions">
      <button class="button" type="button" @click=${dialog.close}>Cancel</button>
      <button class="button primary" form="form" ?disabled=${busy}>${action[busy ? 1 : 0]}</button>
    </div>
  </dg-dialog>`
}

/** The trimmed text of a field. */
export const textIn = (data: FormData, name: string): string => String(data.get(name) ?? '').trim()
