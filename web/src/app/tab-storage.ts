import { newId } from './platform.ts'

/** Has another value after each sign-out in this browser. */
const signOutKey = 'delegate.sign-out'

/** A value that this tab keeps until the owner signs out; null if there is none. */
export function kept<Value>(key: string): Value | null {
  return JSON.parse(sessionStorage.getItem(key) ?? 'null')
}

/** Whether the tab keeps a value under a key that begins so. */
export const hasKept = (prefix: string): boolean =>
  Object.keys(sessionStorage).some((key) => key.startsWith(prefix))

/** The keys of unsaved notes begin so. */
export const noteDrafts = 'delegate.note-draft.'

/** Keeps a value in this tab, across reloads. Null removes it. */
export function keep(key: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(value))
  } catch {
    // Storage is full: the value does not survive a reload.
  }
}

/** Lets every tab forget what it keeps, at the latest when it next shows a page of the app. */
export function markSignOut(): void {
  try {
    localStorage.setItem(signOutKey, newId())
  } catch {
    // Storage is blocked or full: only tabs with the app learn of it, by a message.
  }
}

/** Forgets what this tab kept before a sign-out that it missed, because it showed a page without the app. */
export function forgetAfterSignOut(): void {
  const latest = localStorage.getItem(signOutKey)
  if (latest === null || latest === sessionStorage.getItem(signOutKey)) return
  sessionStorage.clear()
  sessionStorage.setItem(signOutKey, latest)
}
