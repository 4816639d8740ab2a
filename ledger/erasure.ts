import type { EventOf, NewEventOf } from './event.ts'

export type ErasureReason = EventOf<'erased'>['facts']['reason']

/** Seqs that one `erased` fact may name (events/owner.ts). */
const SEQS_A_FACT = 500

/** The facts that name `seqs` as erased; as many as it takes. */
export function erasedFacts(
  seqs: readonly number[],
  reason: ErasureReason,
  by: Pick<NewEventOf<'erased'>, 'actor' | 'causedBy'>,
): NewEventOf<'erased'>[] {
  const facts: NewEventOf<'erased'>[] = []
  for (let start = 0; start < seqs.length; start += SEQS_A_FACT) {
    const part = seqs.slice(start, start + SEQS_A_FACT)
    facts.push({ type: 'erased', channel: 'system', facts: { seqs: part, reason }, ...by })
  }
  return facts
}
