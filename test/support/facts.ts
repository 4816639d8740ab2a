import fc from 'fast-check'
import * as z from 'zod'
import { actorSchema, channelSchema, type NewEvent } from '../../ledger/event.ts'
import { catalogue, type EventType, isEventType } from '../../ledger/events/catalogue.ts'

/** Few ids, so that facts collide: the same memory stored twice, a span closed that never opened. */
const idPool = ['a', 'b', 'c', 'd', 'e', 'f']
const WORDS = [
  'tea',
  'coffee',
  'Ἀθήνα',
  '東京',
  'naïve',
  'x'.repeat(300),
  'line\nbreak',
  '"quoted" OR',
  '\u0001',
  '👩‍👩‍👧',
]

const anId = fc.constantFrom(...idPool)
const aText = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 })
  .map((words) => words.join(' '))
const aTime = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
/** A seq that usually exists. */
export const aSeq = fc.integer({ min: 1, max: 60 })

/**
 * Any value that a schema accepts. Derived from the schema itself, so that new event types are covered at
 * once.
 */
function fromSchema(schema: z.core.$ZodType, name: string): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodObject) {
    const shape: Record<string, z.core.$ZodType> = schema.shape
    return fc
      .record(Object.fromEntries(Object.entries(shape).map(([key, value]) => [key, fromSchema(value, key)])))
      .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)))
  }
  if (schema instanceof z.ZodOptional) return fc.option(fromSchema(schema.unwrap(), name), { nil: undefined })
  if (schema instanceof z.ZodNullable) return fc.option(fromSchema(schema.unwrap(), name), { nil: null })
  if (schema instanceof z.ZodArray) {
    return fc
      .array(fromSchema(schema.element, name), { maxLength: 4 })
      .filter((list) => z.safeParse(schema, list).success)
  }
  if (schema instanceof z.ZodTuple)
    return fc.tuple(...schema._zod.def.items.map((item) => fromSchema(item, name)))
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options)
  if (schema instanceof z.ZodBoolean) return fc.boolean()
  if (schema instanceof z.ZodISODateTime) return aTime
  if (schema instanceof z.ZodNumber) {
    const number = /seqs?$/i.test(name) ? aSeq : fc.integer({ min: 0, max: 9 })
    return number.filter((value) => z.safeParse(schema, value).success)
  }
  if (schema instanceof z.ZodString) {
    const { minLength, maxLength } = schema
    // Such as a hash, whose length no other text has.
    if (minLength !== null && minLength === maxLength) return fc.string({ minLength, maxLength })
    const text = /^(id|ids|.*(Id|Ids|Sid|By|By|linkedTo|supersedes))$/.test(name) ? anId : aText
    const isFree = z.safeParse(schema, WORDS.join(' ')).success && z.safeParse(schema, '').success
    return isFree
      ? fc.oneof(text, fc.string({ unit: 'grapheme' }))
      : fc
          .oneof(text, fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/))
          .filter((value) => z.safeParse(schema, value).success)
  }
  throw new Error(
    `this arbitrary does not support a schema of the catalogue, in ${name}: ${schema._zod.def.type}`,
  )
}

/** Any fact of one type that the ledger accepts. */
export function factOf(type: EventType): fc.Arbitrary<NewEvent> {
  const { facts, body } = catalogue[type]
  return (
    fc
      .record({
        facts: fromSchema(facts, 'facts'),
        body: body ? fromSchema(body, 'body') : fc.constant(undefined),
        actor: fc.constantFrom(...actorSchema.options),
        channel: fc.constantFrom(undefined, ...channelSchema.options),
        key: fc.option(fc.constantFrom(...'0123456789'), { nil: undefined, freq: 12 }),
        conversationId: fc.option(anId),
        spanId: fc.option(anId),
        turnId: fc.option(anId),
        causedBy: fc.option(aSeq, { nil: undefined }),
        derivedFrom: fc.array(aSeq, { maxLength: 2 }),
      })
      // The type and the schemas come from one definition, so the values fit the type.
      .map((fact) => ({ ...fact, type }) as NewEvent)
  )
}

export const eventTypes: readonly EventType[] = Object.keys(catalogue).filter(isEventType)

const typesWithWords = eventTypes.filter((type) => catalogue[type].body !== null)

/** Any fact of any type; facts with words and memories are more frequent. */
export const aFact: fc.Arbitrary<NewEvent> = fc.oneof(
  { weight: 2, arbitrary: fc.oneof(...eventTypes.map(factOf)) },
  { weight: 2, arbitrary: fc.oneof(...typesWithWords.map(factOf)) },
  { weight: 1, arbitrary: factOf('memory.stored') },
)

const examples = new Map<EventType, NewEvent>()

/** An example fact of a type, the same each time, with the changes in `more`. */
export function exampleOf(type: EventType, more: Partial<NewEvent> = {}): NewEvent {
  const [example] = examples.has(type) ? [] : fc.sample(factOf(type), { seed: 1, numRuns: 1 })
  if (example) examples.set(type, example)
  return { ...examples.get(type), key: undefined, derivedFrom: [], ...more } as NewEvent
}

/** The same fact with `text` in place of every field of its body. */
export function withWords(event: NewEvent, text: string): NewEvent {
  return { ...event, body: event.body && worded(event.body, text) } as NewEvent
}

/** Who says something when is a fact beside the words. */
const NO_WORDS = new Set(['speaker', 'at'])

function worded(old: unknown, text: string): unknown {
  if (Array.isArray(old)) return old.map((each) => worded(each, text))
  if (typeof old !== 'object' || old === null) return text
  return Object.fromEntries(
    Object.entries(old).map(([name, each]) => [name, NO_WORDS.has(name) ? each : worded(each, text)]),
  )
}
