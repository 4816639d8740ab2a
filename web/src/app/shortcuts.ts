import { msg } from '../design/msg.ts'

type Shortcut = {
  /** `mod` is Ctrl, or Command on a Mac. */
  readonly keys: readonly string[]
  readonly label: string
}

export type ShortcutGroup = { readonly heading: string; readonly shortcuts: readonly Shortcut[] }

/** The content of the help sheet. Each component handles its own keys. */
export const shortcutGroups: readonly ShortcutGroup[] = [
  {
    heading: msg`Anywhere`,
    shortcuts: [
      { keys: ['mod', 'K'], label: msg`Find a command, a page or a note` },
      { keys: ['mod', msg`Shift`, 'F'], label: msg`Search the timeline` },
      { keys: ['mod', '/'], label: msg`Show this help` },
      { keys: [msg`Esc`], label: msg`Close a dialog, or go back to the message field` },
    ],
  },
  {
    heading: msg`Writing`,
    shortcuts: [
      { keys: [msg`Enter`], label: msg`Send` },
      { keys: [msg`Shift`, msg`Enter`], label: msg`New line` },
      { keys: ['↑'], label: msg`Edit your last message, if the field is empty` },
      { keys: ['mod', '↑'], label: msg`Go to the last entry, if the field is empty` },
      { keys: [msg`Esc`], label: msg`Cancel the edit, or stop the reply` },
    ],
  },
  {
    heading: msg`In the timeline`,
    shortcuts: [
      { keys: ['↑', '↓'], label: msg`Previous or next entry (also K, J)` },
      { keys: [msg`Enter`], label: msg`Fold or unfold` },
      { keys: ['←', '→'], label: msg`Fold or go to the parent; unfold` },
      { keys: ['C'], label: msg`Copy the message` },
      { keys: [msg`Delete`], label: msg`Erase the message or exchange` },
      { keys: [msg`End`], label: msg`Go to the newest entry` },
    ],
  },
]

const editable = 'input, textarea, select, [contenteditable]'
/** The longest pause between the two keys of a sequence. */
const sequenceMs = 1500

/**
 * Detects two-key sequences outside fields and dialogs. Returns the second key in lower case once `first`
 * came before it, else null. Uses the events' timestamps, because a busy page handles them late.
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

/** True if the event is this key with Ctrl or Command, with or without Shift, and no other modifier. */
export function isModKey(event: KeyboardEvent, key: string, shift = false): boolean {
  const isMod = (event.ctrlKey || event.metaKey) && !event.altKey && event.shiftKey === shift
  return isMod && event.key.toLowerCase() === key
}

/** True if the event opens the search of the timeline. */
export const isSearchKey = (event: KeyboardEvent): boolean => isModKey(event, 'f', true)

export const modName = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : msg`Ctrl`
