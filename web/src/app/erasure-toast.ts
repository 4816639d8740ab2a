import type { App } from './app.ts'

/** Offers to undo a pending erasure, in a toast that closes once the erasure completes or is undone. */
export function offerUndo(
  app: App,
  erasure: { readonly id: string; readonly undoMs: number; readonly onUndone: (() => void) | undefined },
): void {
  const { id, undoMs, onUndone } = erasure

  const undo = async (): Promise<void> => {
    await app.http.post('/api/erasures/{id}/undo', { params: { id } })
    app.toast('Restored.')
    onUndone?.()
  }

  const dismiss = app.toast('Hidden. It will be erased for good in a minute.', 'done', {
    shownForMs: undoMs - 2000,
    action: { label: 'Undo', run: () => void app.attempt(undo) },
  })
  const unfollow = app.chat().follow(({ type, payload }) => {
    if ((type !== 'erasure.undone' && type !== 'erasure.completed') || payload.erasureId !== id) return
    dismiss()
    unfollow()
  })
}
