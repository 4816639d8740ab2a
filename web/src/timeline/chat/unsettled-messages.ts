import type { Unsettled } from './outbox.ts'

const storageKey = 'delegate.unsettled'

/** Messages stored before the page was reloaded that are not on the timeline yet. */
export function readUnsettled(): readonly Unsettled[] {
  try {
    const kept: readonly Unsettled[] = JSON.parse(sessionStorage.getItem(storageKey) ?? '[]')
    // A sent message may have been lost, so send it again.
    return kept.map((message) => (message.status === 'failed' ? message : { ...message, status: 'waiting' }))
  } catch {
    // Stored by another version of this page.
    return []
  }
}

export function keepUnsettled(pending: readonly Unsettled[]): void {
  try {
    if (pending.length === 0) sessionStorage.removeItem(storageKey)
    else sessionStorage.setItem(storageKey, JSON.stringify(pending))
  } catch {
    // Storage is blocked or full: the messages do not survive a reload.
  }
}
