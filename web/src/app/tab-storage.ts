/** A value that this tab keeps until the owner signs out; null if there is none. */
export function kept<Value>(key: string): Value | null {
  return JSON.parse(sessionStorage.getItem(key) ?? 'null')
}

/** Keeps a value in this tab, across reloads. Null removes it. */
export function keep(key: string, value: unknown): void {
  try {
    if (value === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(value))
  } catch {
    // Storage is full: the value does not survive a reload.
  }
}
