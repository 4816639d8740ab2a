import type { EventOf, NewEvent } from '../../../ledger/event.ts'
import type { Utterance } from './window.ts'

/** The conversation, span and turn that a memory fact belongs to, and who states it. */
export type MemoryPlace = Partial<
  Pick<NewEvent, 'actor' | 'channel' | 'conversationId' | 'spanId' | 'turnId' | 'causedBy'>
>

/** What memory records by itself. */
export const BY_SERVICE = { actor: 'service', channel: 'inner' } as const

/** What the owner does on the page of memories. */
export const BY_HAND = { actor: 'owner', channel: 'system' } as const

/** The place of what follows from an utterance. */
export function placeOf({ conversationId, spanId, turnId, seq }: Utterance) {
  return { ...BY_SERVICE, conversationId, spanId, turnId, causedBy: seq }
}

/** A memory no longer applies. */
export function retiredFact(
  memoryId: string,
  reason: EventOf<'memory.retired'>['facts']['reason'],
  place: MemoryPlace,
): NewEvent {
  return { type: 'memory.retired', ...BY_SERVICE, ...place, facts: { memoryId, reason } }
}

/** What the owner asks not to keep is out of recall, search and the context from then on. */
export function barredFact(sourceSeqs: readonly number[]): NewEvent {
  return { type: 'memory.sources.barred', ...BY_SERVICE, facts: { sourceSeqs: [...sourceSeqs], by: 'owner' } }
}
