/** A value that this tab keeps until the owner signs out; null if there is none, or it cannot be read. */
export function kept<Value>(key: string): Value | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}

/** Keeps a value in this tab, across reloads. Null removes it. */
export function keep(key: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(value))
  } catch {
    // Storage is blocked or full: the value does not survive a reload.
  }
}
