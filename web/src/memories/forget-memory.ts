import type { AppElement } from '../app/app-element.ts'
import { askToErase } from '../app/erase-dialog.ts'
import { msg } from '../design/msg.ts'

/** Asks whether to forget a memory. `onChange` runs once it is hidden, and again if the owner undoes it. */
export function askToForget(host: AppElement, id: string, onChange: () => void): void {
  askToErase(host, {
    heading: msg`Forget this for good?`,
    target: { kind: 'memory', id },
    note: msg`It never comes up again and is not learned again from the same words. What you said stays on the timeline until you erase it there, but is no longer recalled.`,
    onChange,
  })
}
