import type { EventOf, NewEventOf } from './event.ts'

export type ErasureReason = EventOf<'erased'>['facts']['reason']

/** Limit of the schema in events/owner.ts. */
const SEQS_A_FACT = 500

/** `erased` facts for any number of seqs. */
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
