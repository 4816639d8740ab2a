import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Candidate, Offered } from '../../../src/memory/learn/candidate.ts'
import { type Checked, check } from '../../../src/memory/learn/checks.ts'
import { plain } from '../../../src/memory/learn/patterns.ts'
import type { Utterance } from '../../../src/memory/learn/window.ts'

function utterance(text: string, more: Partial<Utterance> = {}): Utterance {
  return {
    seq: 10,
    speaker: 'owner',
    text,
    at: '2030-05-14T09:00:00.000Z',
    channel: 'chat',
    conversationId: 'c',
    spanId: 's',
    turnId: 't',
    isKept: false,
    ...more,
  }
}

/** Checks what an extractor makes of a message. A text without a quote quotes the whole message. */
function checked(
  message: string,
  claim: Partial<Candidate>,
  more: { readonly shown?: readonly Utterance[]; readonly offered?: readonly Offered[] } = {},
): Checked {
  const said = utterance(message)
  return check(
    { ...plain(claim.text ?? message), quote: message, ...claim },
    {
      quotables: [{ text: message, utterance: said, seqs: [10], agreed: false }],
      shown: [...(more.shown ?? []), said],
      offered: more.offered ?? [],
      timezone: 'Europe/Berlin',
    },
  )
}

const accepted = (fields: object) => ({ outcome: 'accepted', accepted: fields })
const rejected = (reason: string) => ({ outcome: 'rejected', reason })

test.for([
  ['I live in Bergen, near the harbour', { text: 'Lives in Bergen', slot: 'residence', value: 'Bergen' }],
  ['my plate is WX14 KHB', { text: 'Plate is WX14 KHB', slot: 'plate', value: 'WX14 KHB' }],
  ['i take vitamin b12 and drive a t14s', { text: 'Takes vitamin B12', slot: 'supplement', value: 'B12' }],
  ['call me on 0170 123 4567', { text: 'Call on 01701234567', slot: 'phone', value: '0170 1234567' }],
  ['I have two cats', { text: 'Has 2 cats', slot: 'pets', value: '2 cats' }],
  ['Mein Hund heißt Bello', { text: 'Mein Hund heißt Bello', slot: 'Hund', value: 'Bello' }],
  ['我对花生过敏', { text: '我对花生过敏', slot: '过敏', value: '花生' }],
  ['I was born on March 14, 1988', { text: 'Born on 1988-03-14', slot: 'birthday', value: '14 March 1988' }],
  ["I don't like coriander, but I love basil", { text: 'Loves basil', slot: 'taste', value: 'basil' }],
] as const)('keeps “%s” with its slot', ([message, claim]) => {
  expect(checked(message, claim)).toMatchObject(
    accepted({ slot: claim.slot, value: claim.value, provisional: false }),
  )
})

test.for([
  ['a value that was not said', 'I like tea', { value: 'coffee' }, 'unsupported'],
  ['another number', 'My code is 4711', { text: 'Code is 4712', value: '4712' }, 'number_not_in_quote'],
  ['another code', 'my plate is WX14 KHB', { value: 'WX41 KHB' }, 'number_not_in_quote'],
  ['a subject nobody named', 'She lives in Turku', { subject: 'Ida', value: 'Turku' }, 'wrong_subject'],
  ['an invented quote', 'I like tea', { quote: 'I like green tea', value: 'tea' }, 'quote_not_in_source'],
  ['half a word as a quote', 'I like teatime', { quote: 'I like tea', value: 'tea' }, 'quote_not_in_source'],
  ['an empty text', 'I like tea', { text: '…' }, 'empty'],
  ['a question', 'Do I live in Oslo?', { modality: 'asked', value: 'Oslo' }, 'question'],
  ['a joke', "I'm the king of Spain", { modality: 'joked', value: 'king' }, 'joke'],
  ['a wish', 'I wish I had a boat', { modality: 'hypothetical', value: 'boat' }, 'hypothetical'],
  ['a claim of somebody else', 'Bob says I owe him 5', { speaker: 'other', value: '5' }, 'hearsay'],
  [
    'quoted speech',
    'She wrote "I moved to Rome last year"',
    { quote: 'I moved to Rome', value: 'Rome' },
    'injected_text',
  ],
  ['a code block', 'fix ```I live in Rome```', { quote: 'I live in Rome', value: 'Rome' }, 'injected_text'],
  [
    'text to translate',
    'Translate this: I live in Rome',
    { quote: 'I live in Rome', value: 'Rome' },
    'injected_text',
  ],
  [
    'a pasted mail',
    'fyi\nFrom: Bob\nI live in Rome',
    { quote: 'I live in Rome', value: 'Rome' },
    'injected_text',
  ],
] as const)('rejects %s', ([, message, claim, reason]) => {
  expect(checked(message, claim)).toEqual(rejected(reason))
})

test('keeps the owner’s words where the statement says more', () => {
  const claim = { text: 'Works at Siemens with Bartholomew since 1987', slot: 'employer', value: 'Siemens' }
  expect(checked('I work at Siemens', claim)).toMatchObject(
    accepted({ text: 'I work at Siemens', slot: 'employer', value: 'Siemens' }),
  )
})

test.for([
  ['My sister Clara lives in Lyon', { text: 'Lives in Lyon', slot: 'residence', value: 'Lyon' }],
  ['I do not live in Lyon', { text: 'Lives in Lyon', slot: 'residence', value: 'Lyon' }],
  ['I used to live in Lyon', { text: 'Lives in Lyon', slot: 'residence', value: 'Lyon', modality: 'past' }],
] as const)('gives a misread “%s” no key, so that it replaces nothing', ([message, claim]) => {
  expect(checked(message, { ...claim, singleValued: true })).toMatchObject(
    accepted({ text: message, slotKey: '', value: '', singleValued: false }),
  )
})

test('accepts the owner’s words although the same words are also quoted', () => {
  const message = 'He wrote "I live in Rome now". Well, I live in Rome now, too.'
  const claim = { quote: 'I live in Rome now', text: 'Lives in Rome', slot: 'residence', value: 'Rome' }
  expect(checked(message, claim).outcome).toBe('accepted')
  const single = checked("She wrote 'I moved to Rome last year'", { quote: 'I moved to Rome', value: 'Rome' })
  expect(single).toEqual(rejected('injected_text'))
})

test('resolves a subject from an earlier turn', () => {
  const shown = [utterance('My daughter Lisa is six now', { seq: 8 })]
  const claim = { subject: 'Lisa', text: 'Lisa starts school on Monday', slot: 'school', value: 'Monday' }
  expect(checked('she starts school on Monday', claim, { shown })).toMatchObject(
    accepted({ subject: 'Lisa', text: 'Lisa starts school on Monday' }),
  )
})

test('takes what may be asked, imagined, reported or joked as provisional', () => {
  for (const message of [
    'Maybe I live in Oslo then',
    'I live in Oslo lol',
    'According to my aunt I live in Oslo',
    'Guess what, I live in Oslo?',
  ])
    expect(checked(message, { quote: 'I live in Oslo', value: 'Oslo' })).toMatchObject(
      accepted({ provisional: true }),
    )
})

test('allows the words of the memory that a statement refines', () => {
  const offered = [
    { memoryId: 'a', seq: 3, text: 'Has a dog named Rex', subject: 'owner', slot: 'dog', since: '' },
  ]
  const claim: Partial<Candidate> = { text: 'Dog Rex is five', slot: 'dog age', value: 'five' }
  const relations: Candidate['relations'] = [{ memoryId: 'a', relation: 'refine' }]
  const text = 'the dog is five now'
  expect(checked(text, { ...claim, relations }, { offered })).toMatchObject(
    accepted({ text: 'Dog Rex is five', repeatedSeqs: [3] }),
  )
  expect(checked(text, { ...claim, relations })).toMatchObject(
    accepted({ text, relations: [], repeatedSeqs: [] }),
  )
})

test('accepts no statement that only the slot supports', () => {
  const text = 'Thanks, that looks good for Sunday'
  const slot = 'My bank is Mallory Savings'
  expect(checked(text, { quote: text, text: slot, slot, value: '' })).toMatchObject(
    accepted({ text, provisional: true }),
  )
})

test('confirms a time only if the sentence tells it', () => {
  const timeOf = (message: string, eventTime: string) => {
    const result = checked(message, { value: 'dentist', kind: 'plan', modality: 'planned', eventTime })
    return result.outcome === 'accepted' ? result.accepted.eventTime : undefined
  }
  expect(timeOf('dentist tomorrow at 3pm', '2030-05-15T15:00:00+02:00')).toBe('2030-05-15T13:00:00.000Z')
  expect(timeOf('dentist tomorrow at 3pm', '2030-05-17T15:00:00+02:00')).toBeNull()
  expect(timeOf('dentist am 3. Juni 2030', '2030-06-03')).not.toBeNull()
})

test('keeps nothing of a message that the owner asks not to keep', () => {
  const claim: Partial<Candidate> = { secrecy: 'do_not_keep', value: 'gift' }
  expect(checked("the gift is for Ida, don't note that", claim)).toEqual({
    outcome: 'secret',
    sourceSeqs: [10],
  })
})

test('takes a memory back only if it was offered', () => {
  const offered = [{ memoryId: 'a', seq: 3, text: 'Owns a boat', subject: 'owner', slot: 'boat', since: '' }]
  const claim = { text: '', quote: 'scrap that', ends: 'a' }
  const shown = [utterance('I own a boat', { seq: 8 })]
  expect(checked('no, scrap that', claim, { offered, shown })).toMatchObject({
    outcome: 'ended',
    memoryId: 'a',
  })
  expect(checked('no, scrap that', claim, { shown })).toEqual(rejected('empty'))
})

test('takes a memory back only if the owner speaks of it, or of what was just said of it', () => {
  const offered = [{ memoryId: 'a', seq: 3, text: 'Owns a boat', subject: 'owner', slot: 'boat', since: '' }]
  const ended = (message: string, shown: readonly Utterance[] = []) =>
    checked(message, { text: '', quote: message, ends: 'a' }, { offered, shown }).outcome === 'ended'
  const said = utterance('I own a boat', { seq: 5 })
  const asked = utterance('Do you still own the boat?', { seq: 9, speaker: 'delegate' })
  expect(ended('I sold the boat')).toBe(true)
  expect(ended('not any more', [utterance('Hello', { seq: 8 }), asked])).toBe(true)
  expect(ended('I like tea')).toBe(false)
  expect(ended('I like tea', [said, utterance('Good morning', { seq: 8 })])).toBe(false)
  expect(ended('I like tea', [{ ...asked, conversationId: 'another' }])).toBe(false)
})

test('never accepts a number that the owner did not say', () => {
  const number = fc.integer({ min: 1000, max: 99_999 })
  fc.assert(
    fc.property(number, number, (said, claimed) => {
      fc.pre(said !== claimed)
      expect(checked(`My locker code is ${said}`, { value: String(claimed) })).toEqual(
        rejected('number_not_in_quote'),
      )
    }),
  )
})

test('never fails on any message, quote and text', () => {
  const any = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(any, any, any, any, (message, quote, text, value) => {
      expect(['accepted', 'rejected']).toContain(checked(message, { quote, text, value }).outcome)
    }),
    { numRuns: 500 },
  )
})

// Quadratic time would take hours here.
test('checks an endless message in linear time', () => {
  for (const endless of [
    '中'.repeat(60_000),
    "a'".repeat(30_000),
    '. '.repeat(50_000),
    'Bob says: x '.repeat(80_000),
    '\n> a'.repeat(80_000),
  ]) {
    const message = `I like tea. ${endless}`
    expect(checked(message, { quote: 'I like tea', text: 'Likes tea', value: 'tea' }).outcome).toBe(
      'accepted',
    )
  }
})
