import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Relation } from '../../../src/memory/learn/candidate.ts'
import { canonicalKey, slotKeyOf, statementKeyOf } from '../../../src/memory/learn/canonical-key.ts'
import type { Accepted } from '../../../src/memory/learn/checks.ts'
import { consolidate, type Known } from '../../../src/memory/learn/consolidate.ts'
import { plain } from '../../../src/memory/learn/patterns.ts'

type Claim = {
  readonly slot?: string
  readonly value?: string
  readonly single?: boolean
  readonly negated?: boolean
}

function keysOf(text: string, { slot = '', value = '', negated = false }: Claim) {
  return {
    canonicalKey: canonicalKey(text),
    slotKey: slotKeyOf({ subject: 'owner', slot }),
    statementKey: statementKeyOf({ subject: 'owner', slot, value, isNegated: negated }),
  }
}

function accepted(
  text: string,
  claim: Claim & { relations?: Record<string, Relation>; ends?: string; saidSeq?: number } = {},
): Accepted {
  const {
    slot = '',
    value = '',
    single = false,
    negated = false,
    relations = {},
    ends = null,
    saidSeq = 100,
  } = claim
  return {
    ...plain(text),
    kind: 'identity',
    slot,
    value,
    singleValued: single,
    ends,
    relations: Object.entries(relations).map(([memoryId, relation]) => ({ memoryId, relation })),
    sourceSeqs: [saidSeq],
    repeatedSeqs: [],
    saidSeq,
    saidAt: '2030-01-01T00:00:00.000Z',
    agreed: false,
    provisional: false,
    isNegated: negated,
    eventLastsMs: 86_400_000,
    ...keysOf(text, claim),
  }
}

function known(
  memoryId: string,
  text: string,
  claim: Claim & { seq?: number; contestedWith?: string[] } = {},
): Known {
  const { value = '', single = false, seq = 10, contestedWith = [] } = claim
  return {
    memoryId,
    storedSeq: seq + 1,
    kind: 'identity',
    text,
    value,
    quote: text,
    eventTime: null,
    ...keysOf(text, claim),
    status: contestedWith.length > 0 ? 'contested' : 'active',
    singleValued: Number(single),
    byHand: 0,
    sourceSeqs: [seq],
    contestedWith,
  }
}

const stored = { outcome: 'stored', refines: null, overrides: [], contests: [], linkedTo: null }

test('reinforces a memory that is stated again in any form', () => {
  const tea = known('tea', 'I like tea', { slot: 'taste', value: 'tea' })
  expect(consolidate(accepted('The owner likes tea!'), [tea])).toMatchObject({
    outcome: 'reinforced',
    memoryId: 'tea',
  })
  expect(consolidate(accepted('Tea is what I like', { slot: 'Taste', value: 'tea' }), [tea])).toMatchObject({
    outcome: 'reinforced',
  })
})

test('does not count the same words of the same event twice', () => {
  const tea = known('tea', 'I like tea', { seq: 100 })
  expect(consolidate(accepted('I like tea'), [tea])).toEqual({ outcome: 'repeated', memoryId: 'tea' })
  const claim = { ...accepted('Likes tea a lot', { value: 'tea' }), quote: 'please remember that I like tea' }
  expect(consolidate(claim, [tea])).toEqual({ outcome: 'repeated', memoryId: 'tea' })
})

test('treats the same words about another day as another plan, and about the same day as one', () => {
  const text = 'I have a dentist appointment tomorrow at 3pm'
  const claim = { slot: 'dentist appointment', value: 'dentist appointment tomorrow at 3pm' }
  const first = { ...known('first', text, claim), eventTime: '2030-01-02T14:00:00.000Z' }
  const said = (eventTime: string) => consolidate({ ...accepted(text, claim), eventTime }, [first])
  expect(said('2030-01-03T14:00:00.000Z')).toMatchObject({ outcome: 'stored', overrides: [], contests: [] })
  expect(said('2030-01-02T11:00:00.000Z')).toMatchObject({ outcome: 'reinforced', memoryId: 'first' })
  const inOtherWords = { ...accepted(`You know, ${text}`, claim), eventTime: '2030-01-03T14:00:00.000Z' }
  expect(consolidate(inOtherWords, [first])).toMatchObject({ outcome: 'stored', overrides: [] })
})

test('stores two facts of one sentence separately', () => {
  const dog = {
    ...known('dog', 'Has a dog', { seq: 100, slot: 'pet', value: 'dog' }),
    quote: 'I have a dog and a cat',
  }
  const cat = { ...accepted('Has a cat', { slot: 'pet', value: 'cat' }), quote: 'I have a dog and a cat' }
  expect(consolidate(cat, [dog])).toMatchObject({ outcome: 'stored', overrides: [], contests: [] })
})

test('does not merge similar memories', () => {
  const dog = known('dog', 'My dog Rex is old')
  expect(consolidate(accepted('My dog Rex is brown'), [dog])).toEqual(stored)
})

test('rejects a “same” relation across numbers, negations and single-valued slots', () => {
  const code = known('m', 'Locker code is 4711', { slot: 'locker code', value: '4711', single: true })
  expect(
    consolidate(
      accepted('Locker code is 4712', {
        slot: 'locker code',
        value: '4712',
        single: true,
        relations: { m: 'same' },
      }),
      [code],
    ),
  ).toMatchObject({ overrides: ['m'] })
  const tea = known('m', 'Likes tea', { slot: 'taste', value: 'tea' })
  expect(consolidate(accepted('Does not like tea', { relations: { m: 'same' } }), [tea])).toMatchObject({
    outcome: 'stored',
    contests: ['m'],
  })
  const home = known('m', 'Lives in Oslo', { slot: 'residence', value: 'Oslo', single: true })
  expect(
    consolidate(
      accepted('Lives in Ulm', { slot: 'residence', value: 'Ulm', single: true, relations: { m: 'same' } }),
      [home],
    ),
  ).toMatchObject({ overrides: ['m'] })
})

test('ignores a relation to a memory with which it has nothing in common', () => {
  const phone = known('m', 'Phone number is 555 0147', {
    slot: 'phone number',
    value: '555 0147',
    single: true,
  })
  const said = (relation: Relation) =>
    accepted('Lives in Ulm', { slot: 'residence', value: 'Ulm', single: true, relations: { m: relation } })
  for (const relation of ['same', 'refine', 'conflict'] as const)
    expect(consolidate(said(relation), [phone])).toEqual(stored)
  const ends = accepted('Lives in Ulm', { slot: 'residence', value: 'Ulm', single: true, ends: 'm' })
  expect(consolidate(ends, [phone])).toEqual(stored)
})

test('does not take a common subject for a relation', () => {
  const allergy = known('m', 'Mila is allergic to kiwi', { slot: 'allergy', value: 'kiwi' })
  const said = {
    ...accepted('Mila starts nursery on Monday', { slot: 'nursery', ends: 'm' }),
    subject: 'Mila',
  }
  expect(consolidate(said, [allergy])).toEqual(stored)
})

test('lets a provisional statement change no other memory, and any other statement replace it', () => {
  const claim = { slot: 'residence', value: 'Ulm', single: true }
  const home = known('m', 'I live in Oslo', { slot: 'residence', value: 'Oslo', single: true })
  const doubtful = { ...accepted('I live in Ulm', claim), provisional: true }
  expect(consolidate(doubtful, [home])).toMatchObject({
    outcome: 'stored',
    overrides: [],
    contests: [],
  })
  const provisional = { ...home, status: 'provisional' } as const
  expect(consolidate(accepted('I live in Ulm', claim), [provisional])).toMatchObject({
    overrides: ['m'],
  })
  const again = accepted('I live in Oslo', { slot: 'residence', value: 'Oslo', single: true })
  expect(consolidate(again, [provisional])).toMatchObject({ outcome: 'reinforced', memoryId: 'm' })
})

test('does not override who somebody is by a “yes” to the delegate’s words', () => {
  const home = known('m', 'I live in Oslo', { slot: 'residence', value: 'Oslo', single: true })
  const agreed = accepted('I live in Ulm', { slot: 'residence', value: 'Ulm', single: true })
  expect(consolidate({ ...agreed, agreed: true }, [home])).toMatchObject({
    overrides: [],
    contests: ['m'],
  })
})

test('replaces a memory by its refinement', () => {
  const dog = known('m', 'Has a dog', { slot: 'pet', value: 'dog' })
  expect(
    consolidate(
      accepted('Has a dog named Rex', { slot: 'pet', value: 'dog named Rex', relations: { m: 'refine' } }),
      [dog],
    ),
  ).toMatchObject({ outcome: 'stored', refines: 'm', overrides: [] })
})

test('overrides on a conflict if the slot is single-valued or the statement ends the memory', () => {
  const tea = known('m', 'Drinks tea in the morning', { slot: 'morning drink', value: 'tea' })
  const against = (more: Parameters<typeof accepted>[1]) =>
    consolidate(accepted('Drinks coffee in the morning', { relations: { m: 'conflict' }, ...more }), [tea])
  expect(against({})).toMatchObject({ contests: ['m'], overrides: [] })
  expect(against({ single: true, slot: 'morning drink', value: 'coffee' })).toMatchObject({
    contests: [],
    overrides: ['m'],
  })
  expect(against({ ends: 'm' })).toMatchObject({ contests: [], overrides: ['m'] })
})

test('overrides a single value or a negation without a model, and links multiple values', () => {
  const home = known('m', 'I live in Oslo', { slot: 'residence', value: 'Oslo', single: true })
  expect(
    consolidate(accepted('I moved to Ulm', { slot: 'residence', value: 'Ulm', single: true }), [home]),
  ).toMatchObject({ overrides: ['m'] })
  const sister = known('m', 'My sister is Ida', { slot: 'sister name', value: 'Ida' })
  expect(
    consolidate(accepted('My sister is Eva', { slot: 'sister name', value: 'Eva' }), [sister]),
  ).toMatchObject({ overrides: [], contests: [], linkedTo: 'm' })
  const tea = known('m', 'I like tea', { slot: 'taste', value: 'tea' })
  expect(
    consolidate(accepted('I hate tea', { slot: 'taste', value: 'tea', negated: true }), [tea]),
  ).toMatchObject({ overrides: ['m'] })
})

test('never overrides a memory with an older statement', () => {
  const home = known('m', 'I live in Ulm', { slot: 'residence', value: 'Ulm', single: true, seq: 200 })
  expect(
    consolidate(accepted('I live in Oslo', { slot: 'residence', value: 'Oslo', single: true }), [home]),
  ).toEqual({ outcome: 'outdated', memoryId: 'm' })
})

test('resolves a contradiction in favour of the memory that is stated again', () => {
  const tea = known('tea', 'I drink tea', { contestedWith: ['coffee'] })
  const coffee = known('coffee', 'I drink coffee', { contestedWith: ['tea'] })
  expect(consolidate(accepted('I drink tea'), [tea, coffee])).toMatchObject({
    outcome: 'reinforced',
    memoryId: 'tea',
    overrides: ['coffee'],
  })
})

const aWord = fc.constantFrom(
  'tea',
  'Oslo',
  '4711',
  '4712',
  'Tee',
  'чай',
  '茶',
  'not',
  'never',
  'dog',
  'Rex',
  'loves',
)
const aText = fc.array(aWord, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '))
const aRelation = fc.constantFrom<Relation>('same', 'refine', 'conflict', 'independent')

test('names only known memories in a decision, and each at most once', () => {
  fc.assert(
    fc.property(
      aText,
      fc.array(fc.tuple(aText, aRelation, fc.boolean()), { maxLength: 5 }),
      fc.boolean(),
      (text, others, single) => {
        const memories = others.map(([other, , isSingle], index) =>
          known(`m${index}`, other, { single: isSingle, slot: 'x', value: other }),
        )
        const relations = Object.fromEntries(others.map(([, relation], index) => [`m${index}`, relation]))
        const decision = consolidate(accepted(text, { slot: 'x', value: text, single, relations }), memories)
        const ids = new Set(memories.map(({ memoryId }) => memoryId))
        const named =
          decision.outcome === 'stored' || decision.outcome === 'reinforced'
            ? [...decision.overrides, ...decision.contests]
            : []
        expect(new Set(named).size).toBe(named.length)
        for (const id of named) expect(ids).toContain(id)
        if (decision.outcome === 'reinforced') expect(named).not.toContain(decision.memoryId)
      },
    ),
  )
})

test('never merges statements that differ in a number or a negation', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1000, max: 9999 }),
      fc.integer({ min: 1000, max: 9999 }),
      aRelation,
      (a, b, relation) => {
        fc.pre(a !== b)
        const memory = known('m', `The code is ${a}`, { slot: 'code', value: String(a) })
        const decision = consolidate(
          accepted(`The code is ${b}`, { slot: 'code', value: String(b), relations: { m: relation } }),
          [memory],
        )
        expect(decision.outcome).toBe('stored')
        if (decision.outcome === 'stored') expect(decision.refines).toBeNull()
      },
    ),
  )
})
