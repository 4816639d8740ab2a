import { html, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { HaltState } from '../../../src/http/contract/halt.ts'
import { passwordView } from '../design/field.ts'
import type { AppElement } from './app-element.ts'
import { askToConfirm } from './confirm-dialog.ts'
import { DialogElement } from './dialog-element.ts'
import { formDialog } from './form-dialog.ts'
import { Submission } from './submission.ts'

type Changed = (state: HaltState) => void

/** Says what a halt does, and halts on confirmation. */
export function askToHalt(host: AppElement, changed: Changed): void {
  askToConfirm(host, {
    heading: 'Halt Delegate?',
    content:
      'Delegate keeps answering in chat, and does nothing else: no texts, calls, tasks, deliveries or learning. Calls and tasks in progress end; everything else waits until you release it with your password.',
    action: 'Halt',
    run: async () => changed(await host.app.http.post('/api/halt')),
  })
}

/** Asks for the password, and releases Delegate. */
export function askToRelease(host: AppElement, changed: Changed): void {
  Object.assign(new DgReleaseDialog(), { changed }).openIn(host)
}

@customElement('dg-release-dialog')
export class DgReleaseDialog extends DialogElement {
  @property({ attribute: false }) changed!: Changed
  private readonly submission = new Submission(this)

  private readonly submit = (data: FormData): Promise<boolean> => {
    const password = String(data.get('password'))
    return this.submission.send(
      async () => this.changed(await this.app.http.post('/api/halt/release', { body: { password } })),
      password === '' ? { password: 'Enter your password.' } : {},
      ({ problem }) =>
        problem.code === 'wrong_password' ? { password: 'That is not your password.' } : undefined,
    )
  }

  override render(): TemplateResult {
    return formDialog(this, this.submission, {
      heading: 'Release Delegate?',
      action: ['Release', 'Releasing…'],
      submit: this.submit,
      fields: html`<p>Everything that waits goes on: texts and deliveries are sent, and tasks start.</p>
        ${passwordView({
          name: 'password',
          label: 'Your password',
          error: this.submission.errors.password,
          autofocus: true,
        })}`,
    })
  }
}
