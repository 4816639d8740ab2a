import type { DgDialog } from '../design/dialog.ts'
import '../design/dialog.ts'
import { AppElement } from './app-element.ts'

/** An element that is one dialog. It is in the document while it is open. */
export abstract class DialogElement extends AppElement {
  constructor() {
    super()
    this.addEventListener('close', (event) => {
      // It may have been opened by another dialog, which stays.
      event.stopPropagation()
      this.remove()
    })
  }

  /** Opens the dialog as part of the host, so that it leaves with the host's page. */
  openIn(host: AppElement): void {
    this.app = host.app
    if (!this.isConnected) host.renderRoot.append(this)
  }

  /** Closes the dialog and returns the focus. It leaves at once: the browser reports the close only later. */
  readonly close = (): void => {
    this.renderRoot.querySelector<DgDialog>('dg-dialog')?.close()
    this.remove()
  }
}
