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
      { keys: ['←', '→'], label: 'Fold, unfold' },
      { keys: ['C'], label: 'Copy the message' },
      { keys: ['Delete'], label: 'Erase the message or exchange' },
      { keys: ['End'], label: 'To the newest entry' },
    ],
  },
]

/** Whether the event is this key with Ctrl (or Command) and nothing else. */
export function isModKey(event: KeyboardEvent, key: string): boolean {
  return (
    (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === key
  )
}

export const modName = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'
