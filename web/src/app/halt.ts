import type { HaltState } from '../../../src/http/contract/halt.ts'
import { msg } from '../design/msg.ts'
import type { AppElement } from './app-element.ts'
import { askToConfirm } from './confirm-dialog.ts'
import { askForPassword } from './password-dialog.ts'

type Changed = (state: HaltState) => void

/** Says what a halt does, and halts on confirmation. */
export function askToHalt(host: AppElement, changed: Changed): void {
  askToConfirm(host, {
    heading: msg`Halt Delegate?`,
    content: msg`Delegate keeps answering in chat, and does nothing else: no texts, calls, tasks, deliveries or learning. Calls and tasks in progress end; everything else waits until you release it with your password.`,
    action: msg`Halt`,
    run: async () => changed(await host.app.http.post('/api/halt')),
  })
}

/** Asks for the password, and releases Delegate. */
export function askToRelease(host: AppElement, changed: Changed): void {
  void askForPassword(host, {
    heading: msg`Release Delegate?`,
    text: msg`Everything that waits goes on: texts and deliveries are sent, and tasks start.`,
    action: [msg`Release`, msg`Releasing…`],
    run: async (password) => changed(await host.app.http.post('/api/halt/release', { body: { password } })),
  })
}
