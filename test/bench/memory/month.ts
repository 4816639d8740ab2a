/** What a careless reader would take a message for. */
export const trapKinds = [
  'joke',
  'hypo',
  'question',
  'quote',
  'pasted',
  'code',
  'dictation',
  'hearsay',
  'wish',
  'other',
  'negation',
  'past',
  'assistant',
  'retraction',
  'guest',
] as const
export type TrapKind = (typeof trapKinds)[number]

export const factKinds = ['identity', 'preference', 'relation', 'plan', 'procedure', 'episode'] as const
export type FactKind = (typeof factKinds)[number]

export type Fact = {
  readonly id: string
  readonly kind: FactKind
  /** `owner`, or whom or what it is about. */
  readonly subject: string
  readonly slot: string
  /** The words by which a memory is recognised as this fact. */
  readonly value: string
  readonly isSingleValued: boolean
  readonly eventTime: string | null
  readonly validUntil: string | null
  /** The earlier fact that no longer holds because of it. */
  readonly ends: string | null
  /** The earlier fact that it says more exactly. */
  readonly refines: string | null
  /** Right if it is known, but not missed: it shares its message with a secret. */
  readonly isOptional: boolean
}

/** A fact as one message states it. */
export type Statement = {
  readonly factId: string
  readonly isNew: boolean
  readonly quote: string
  readonly text: string
}

export type Trap = {
  readonly kind: TrapKind
  /** The words by which a memory is recognised as the wrong reading. */
  readonly value: string
  /** The wrong reading. */
  readonly text: string
  /** With one of these words, a memory is true to the letter ("used to"). */
  readonly guards: readonly string[]
  readonly quote: string
}

export type Secret = { readonly words: string; readonly text: string }

export type Forget = {
  /** What the assistant's model passes to its tool. */
  readonly query: string
  /** Null if nothing but words in messages is meant. */
  readonly factId: string | null
  /** The words that must not come back. */
  readonly words: string
}

export type Message = {
  readonly day: number
  readonly at: 'chat' | 'sms' | 'voice'
  readonly party: 'owner' | 'guest'
  readonly text: string
  readonly reply: string
  readonly statements: readonly Statement[]
  readonly traps: readonly Trap[]
  readonly secrets: readonly Secret[]
  /** Facts that the owner takes back. */
  readonly retracts: readonly string[]
  readonly forgets: readonly Forget[]
}

export type Probe = {
  readonly question: string
  readonly kind: 'one' | 'several' | 'nothing'
  /** The words of the answer; all are wanted. For `nothing`, words that must not be shown. */
  readonly answers: readonly string[]
}

export type Month = {
  readonly persona: string
  readonly messages: readonly Message[]
  readonly facts: ReadonlyMap<string, Fact>
  readonly probes: readonly Probe[]
  /** Words by which a statement may be asked for, as a model gave them that had not seen the probes. */
  readonly keywords: ReadonlyMap<string, readonly string[]>
}

/** `past`: a plan whose time is over. Whether such a memory is kept counts neither way. */
export type Fate = 'current' | 'refined' | 'corrected' | 'retracted' | 'forgotten' | 'past'

/** Monday, 1 April 2030, 07:00 UTC. */
export const START_MS = Date.UTC(2030, 3, 1, 7)
export const DAYS = 30
const END = '2030-04-30'

/** What became of each fact on the last day. */
export function fatesOf({ messages, facts }: Month): ReadonlyMap<string, Fate> {
  const fates = new Map<string, Fate>()
  for (const { id, validUntil } of facts.values())
    fates.set(id, validUntil !== null && validUntil <= END ? 'past' : 'current')
  for (const { ends, refines } of facts.values()) {
    if (ends !== null) fates.set(ends, 'corrected')
    if (refines !== null) fates.set(refines, 'refined')
  }
  for (const { retracts, forgets } of messages) {
    for (const id of retracts) fates.set(id, 'retracted')
    for (const { factId } of forgets) if (factId !== null) fates.set(factId, 'forgotten')
  }
  return fates
}

/** The people that a confused model takes for the owner, and the reverse. */
export function peopleOf({ facts }: Month): string[] {
  return [...facts.values()]
    .filter(
      ({ kind, subject, value }) => kind === 'relation' && subject === 'owner' && /^\p{Lu}/u.test(value),
    )
    .map(({ value }) => value.split(' ')[0] ?? value)
}
