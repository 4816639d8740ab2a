export type Shortcut = {
  /** `mod` is Ctrl, or Command on a Mac. */
  readonly keys: readonly string[]
  readonly label: string
}

export type ShortcutGroup = { readonly heading: string; readonly shortcuts: readonly Shortcut[] }

/** What the help sheet says. The keys themselves are handled where they act. */
export const shortcutGroups: readonly ShortcutGroup[] = [
  {
    heading: 'Anywhere',
    shortcuts: [
      { keys: ['mod', 'K'], label: 'Search' },
      { keys: ['mod', '/'], label: 'This help' },
      { keys: ['Esc'], label: 'Close what is open; back to writing' },
    ],
  },
  {
    heading: 'Writing',
    shortcuts: [
      { keys: ['Enter'], label: 'Send' },
      { keys: ['Shift', 'Enter'], label: 'New line' },
      { keys: ['↑'], label: 'From the empty field to the last entry' },
      { keys: ['Esc'], label: 'Stop the reply' },
    ],
  },
  {
    heading: 'In the timeline',
    shortcuts: [
      { keys: ['↑', '↓'], label: 'Previous, next entry (also K, J)' },
      { keys: ['Enter'], label: 'Fold or unfold' },
      { keys: ['←', '→'], label: 'Fold or go to what holds it, unfold' },
      { keys: ['C'], label: 'Copy the message' },
      { keys: ['Delete'], label: 'Erase the message or exchange' },
      { keys: ['End'], label: 'To the newest entry' },
    ],
  },
]

const editable = 'input, textarea, select, [contenteditable]'
/** As long as the second key of a sequence may take. */
const sequenceMs = 1500

/**
 * Hears keys that are struck one after the other, outside of fields and dialogs. Gives the second key of
 * `first, second`, in lower case, and null for every other event. By when they were struck: a page that is busy
 * hears them later.
 */
export function createKeySequence(first: string): (event: KeyboardEvent) => string | null {
  let firstAtMs = Number.NEGATIVE_INFINITY
  return (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented
    if (!isPlain || event.isComposing || isBusy(event)) return null
    const key = event.key.toLowerCase()
    const isSecond = event.timeStamp - firstAtMs < sequenceMs
    firstAtMs = !isSecond && key === first ? event.timeStamp : Number.NEGATIVE_INFINITY
    return isSecond ? key : null
  }
}

function isBusy(event: KeyboardEvent): boolean {
  return event
    .composedPath()
    .some((node) => node instanceof Element && (node.matches(editable) || node instanceof HTMLDialogElement))
}

/** Whether the event is this key with Ctrl (or Command) and nothing else. */
export function isModKey(event: KeyboardEvent, key: string): boolean {
  return (
    (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === key
  )
}

export const modName = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'
