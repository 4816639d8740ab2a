import { createHash } from 'node:crypto'
import type { Candidate } from '../../../src/memory/learn/candidate.ts'
import { plain } from '../../../src/memory/learn/patterns.ts'
import { type ScriptedModel, type Shown, scriptedModel } from '../../memory/scripted-model.ts'
import { createRandom, type Random } from '../../support/random.ts'
import {
  type Fact,
  type Message,
  type Month,
  peopleOf,
  type Statement,
  type Trap,
  type TrapKind,
} from './month.ts'
import { contains } from './words.ts'

/** Share of the readings that a competent model gets wrong. */
const WRONG = 0.15
/** Details that nobody says. */
export const INVENTED = ['since 1987', 'with Bartholomew', 'for 63 years'] as const

/** How a competent model marks a trap; null if it leaves it out. */
const marks: Readonly<Record<TrapKind, Pick<Candidate, 'modality' | 'speaker'> | null>> = {
  joke: { modality: 'joked', speaker: 'owner' },
  hypo: { modality: 'hypothetical', speaker: 'owner' },
  question: { modality: 'asked', speaker: 'owner' },
  quote: { modality: 'quoted', speaker: 'other' },
  pasted: { modality: 'quoted', speaker: 'other' },
  code: { modality: 'quoted', speaker: 'other' },
  dictation: { modality: 'quoted', speaker: 'owner' },
  hearsay: { modality: 'quoted', speaker: 'other' },
  wish: { modality: 'hypothetical', speaker: 'owner' },
  other: { modality: 'quoted', speaker: 'other' },
  past: { modality: 'past', speaker: 'owner' },
  negation: null,
  assistant: null,
  retraction: null,
  guest: null,
}

/**
 * Extracts what the labels of a month say. `competent` gets 15 % of it wrong; `gullible` takes every trap and
 * secret for a fact. What goes wrong depends on the message alone, so that the same goes wrong in every run.
 */
export function extractingModel(month: Month, manner: 'competent' | 'gullible'): ScriptedModel {
  const byText = new Map(month.messages.map((message) => [message.text, message]))
  for (const message of month.messages) if (isLabelled(message)) byText.set(message.text, message)
  const people = peopleOf(month)

  return scriptedModel((shown) =>
    shown.turns
      .filter(({ speaker, quotable }) => speaker === 'owner' && quotable)
      .flatMap(({ text }) => {
        const message = byText.get(text)
        return message ? readingsOf(message, shown) : []
      }),
  )

  function readingsOf(message: Message, shown: Shown): Candidate[] {
    const { text, statements, traps, secrets, retracts } = message
    const random = createRandom(
      createHash('sha256').update(`${month.persona} ${text}`).digest().readUInt32LE(),
    )
    const right = statements.map((statement) => statedReading(statement, shown))
    if (manner === 'gullible')
      return [
        ...right.map((reading) => ({ ...reading, modality: 'asserted' as const })),
        ...traps.map(readTrap),
        ...secrets.map((secret) => bareReading(secret.text, text)),
      ]
    return [
      ...right.flatMap((reading) => (random.chance(WRONG) ? mistaken(reading, shown, random) : [reading])),
      ...traps.flatMap((trap): Candidate[] => {
        const mark = marks[trap.kind]
        if (random.chance(WRONG)) return [readTrap(trap)]
        if (mark === null) return []
        // A past state is told as past.
        const told = trap.kind === 'past' ? { text: trap.quote } : {}
        return [{ ...readTrap(trap), ...mark, ...told }]
      }),
      ...secrets.map((secret) => ({
        ...bareReading(secret.text, text),
        secrecy: random.chance(WRONG) ? ('keep' as const) : ('do_not_keep' as const),
      })),
      ...retracts.flatMap((id) => retraction(id, text, shown)),
    ]
  }

  function statedReading({ factId, quote, text, isNew }: Statement, shown: Shown): Candidate {
    const fact = factOf(factId)
    const relations: Candidate['relations'][number][] = []
    const relate = (id: string | null, relation: 'same' | 'refine' | 'conflict') => {
      const memoryId = id === null ? undefined : offeredAs(factOf(id), shown)
      if (memoryId !== undefined) relations.push({ memoryId, relation })
      return memoryId ?? null
    }
    if (!isNew) relate(factId, 'same')
    relate(fact.refines, 'refine')
    const ends = relate(isNew ? fact.ends : null, 'conflict')
    return {
      ...bareReading(text, quote),
      kind: fact.kind,
      // A thing that nobody named by this word belongs to the owner.
      subject: shown.turns.some((turn) => contains(turn.text, fact.subject)) ? fact.subject : 'owner',
      slot: fact.slot,
      value: contains(quote, fact.value) ? fact.value : wordsWithin(fact.value, quote),
      modality: fact.kind === 'plan' ? 'planned' : 'asserted',
      singleValued: fact.isSingleValued,
      eventTime: fact.eventTime,
      validUntil: fact.validUntil,
      keywords: keywordsOf(text),
      ends,
      relations,
    }
  }

  function retraction(id: string, text: string, shown: Shown): Candidate[] {
    const fact = factOf(id)
    const memoryId = offeredAs(fact, shown)
    if (memoryId === undefined) return []
    const { kind, subject, slot } = fact
    const relations = [{ memoryId, relation: 'conflict' as const }]
    return [{ ...bareReading(text, text), kind, subject, slot, ends: memoryId, relations }]
  }

  function keywordsOf(statement: string): string[] {
    return [...(month.keywords.get(statement) ?? [])]
  }

  function readTrap({ kind, text, value, quote }: Trap): Candidate {
    return { ...bareReading(text, quote), slot: kind, value, keywords: keywordsOf(text) }
  }

  function factOf(id: string): Fact {
    const fact = month.facts.get(id)
    if (!fact) throw new Error(`no fact ${id}`)
    return fact
  }

  /** One mistake, instead of the right reading or beside it. */
  function mistaken(reading: Candidate, shown: Shown, random: Random): Candidate[] {
    const beside = random.chance(0.5) ? [reading] : []
    switch (random.below(6)) {
      case 0: {
        const others = people.filter((name) => !contains(reading.text, name))
        return [...beside, ofSomebodyElse(reading, others, random)]
      }
      case 1:
        return [...beside, { ...reading, text: `${reading.text} ${random.pick(INVENTED)}` }]
      case 2: {
        const turn = shown.turns.findLast(
          ({ speaker, text }) => speaker === 'owner' && (byText.get(text)?.statements.length ?? 0) === 0,
        )
        return turn ? [reading, bareReading(turn.text, turn.text)] : [reading]
      }
      case 3: {
        const turn = shown.turns.findLast(({ speaker }) => speaker === 'delegate')
        return turn ? [reading, bareReading(turn.text, turn.text)] : [reading]
      }
      case 4:
        return [
          reading,
          { ...reading, text: `${reading.subject}, ${reading.slot}: ${reading.text}`, relations: [] },
        ]
      default: {
        const related = new Set(reading.relations.map(({ memoryId }) => memoryId))
        const others = shown.memories.filter(({ id }) => !related.has(id))
        if (others.length === 0) return [reading]
        const memoryId = random.pick(others).id
        const relation = random.chance(0.5) ? 'same' : 'conflict'
        const ends = relation === 'conflict' ? memoryId : reading.ends
        return [{ ...reading, ends, relations: [...reading.relations, { memoryId, relation }] }]
      }
    }
  }
}

function ofSomebodyElse(reading: Candidate, people: readonly string[], random: Random): Candidate {
  const { subject, text } = reading
  if (subject !== 'owner') {
    const isFirst = text.toLowerCase().startsWith(subject.toLowerCase())
    return { ...reading, subject: 'owner', text: isFirst ? `Owner${text.slice(subject.length)}` : text }
  }
  if (people.length === 0) return reading
  const name = random.pick(people)
  return { ...reading, subject: name, text: `${name}: ${text}` }
}

function bareReading(text: string, quote: string): Candidate {
  return { ...plain(text), kind: 'identity', quote }
}

/** The offered memory of a fact. */
function offeredAs({ value }: Fact, { memories }: Shown): string | undefined {
  return memories.findLast(({ text }) => contains(text, value))?.id
}

function wordsWithin(words: string, text: string): string {
  return words
    .split(' ')
    .filter((word) => contains(text, word))
    .join(' ')
}

function isLabelled({ statements, traps, secrets, retracts }: Message): boolean {
  return statements.length + traps.length + secrets.length + retracts.length > 0
}
