import type { Candidate } from '../../../src/memory/learn/candidate.ts'
import type { Quotable, Utterance } from '../../../src/memory/learn/evidence.ts'
import type { Court, Offered } from '../../../src/memory/learn/gates.ts'

const SAID_AT = '2030-05-02T12:00:00.000Z'

export function utterance(text: string, more: Partial<Utterance> = {}): Utterance {
  return {
    seq: 10,
    speaker: 'owner',
    text,
    at: SAID_AT,
    channel: 'chat',
    conversationId: 'c',
    spanId: 's',
    turnId: 't',
    ...more,
  }
}

export function quotable(text: string, more: Partial<Quotable> = {}): Quotable {
  const said = utterance(text)
  return { text, utterance: said, seqs: [said.seq], agreed: false, next: null, ...more }
}

/** A court over one message of the owner's. */
export function courtOf(
  message: string,
  {
    next = null,
    offered = [],
    shown = [],
  }: { next?: string | null; offered?: readonly Offered[]; shown?: readonly Utterance[] } = {},
): Court {
  return {
    quotables: [quotable(message, { next })],
    shown: [utterance(message), ...shown],
    offered,
    timezone: 'Europe/Berlin',
  }
}

/** A candidate as a model would write it; omitted fields follow from the text. */
export function candidate(quote: string, text: string, more: Partial<Candidate> = {}): Candidate {
  return {
    kind: 'identity',
    subject: 'owner',
    slot: '',
    value: '',
    text,
    quote,
    singleValued: false,
    eventTime: null,
    validUntil: null,
    relations: [],
    ...more,
  }
}
