import { msg } from '../design/msg.ts'
import type { Toaster } from '../design/toaster.ts'

/** Copies text and shows a toast with the outcome. */
export async function copyWithToast(text: string, done: string, toast: Toaster): Promise<void> {
  if (await copyText(text)) toast(done)
  else toast(msg`The browser blocked copying. Select the text and copy it yourself.`, 'warning')
}

/** Copies text. Falls back to `execCommand` in insecure contexts. Returns false if both fail. */
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
