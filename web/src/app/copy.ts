import type { Toaster } from '../design/toast.ts'

/** Copies text and says whether it is copied: not every browser allows it. */
export async function copyAndTell(text: string, done: string, toast: Toaster): Promise<void> {
  if (await copyText(text)) toast(done)
  else toast('This browser did not allow copying.', 'warning')
}

/** Copies text; without the clipboard API (no secure context) by the old way. False where neither works. */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      return false
    }
  }
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  document.body.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  return copied
}
