import { isObject, numberField, optionalString, parseJson, stringField } from '../../data/json.ts'
import type { Unsettled } from './outbox.ts'

const storageKey = 'delegate.unsettled'

/** Messages stored before the page was reloaded that are not on the timeline yet. */
export function readUnsettled(): readonly Unsettled[] {
  try {
    const kept = parseJson(sessionStorage.getItem(storageKey) ?? '[]', storageKey)
    return Array.isArray(kept) ? kept.filter(isObject).map(parseUnsettled) : []
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

function parseUnsettled(message: { readonly [key: string]: unknown }): Unsettled {
  return {
    clientMessageId: stringField(message, 'clientMessageId'),
    text: stringField(message, 'text'),
    at: stringField(message, 'at'),
    // A sent message may have been lost, so send it again.
    status: message.status === 'failed' ? 'failed' : 'waiting',
    reason: optionalString(message, 'reason'),
    afterSeq: message.afterSeq === null ? null : numberField(message, 'afterSeq'),
  }
}
