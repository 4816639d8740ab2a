import type { Database } from 'better-sqlite3'
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

/**
 * The seqs, and all that copies them or was learned from them, at any remove; ascending. Reads the whole ledger:
 * for when the projection that knows it from the other end cannot be trusted.
 */
export function scanClosure(db: Database, seqs: readonly number[]): number[] {
  const closure = new Set(seqs)
  const derived = db
    .prepare<[number], { seq: number; derivedFrom: string }>(
      'SELECT seq, derivedFrom FROM events WHERE derivedFrom IS NOT NULL AND seq > ? ORDER BY seq',
    )
    .all(Math.min(...seqs))
  // A fact derives only from earlier ones, so one pass in their order finds every remove.
  for (const { seq, derivedFrom } of derived) {
    const sources: unknown = JSON.parse(derivedFrom)
    if (Array.isArray(sources) && sources.some((source) => closure.has(source))) closure.add(seq)
  }
  return [...closure].sort((a, b) => a - b)
}
