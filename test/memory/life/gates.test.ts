import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judge, type Rejection } from '../../../src/memory/gates.ts'
import { spokenNumbers } from '../../../src/memory/language/numbers.ts'
import { sentencesOf } from '../../../src/memory/language/text.ts'
import { candidate, courtOf, utterance } from './court.ts'
import { type Case, KEPT } from './kept-cases.ts'
import { MORE_KEPT } from './more-kept-cases.ts'
import { MORE_REJECTED } from './more-rejected-cases.ts'
import { REJECTED } from './rejected-cases.ts'

function verdictOf([message, quote, text, more]: Case, next: string | null = null): Rejection | 'kept' {
  const verdict = judge(candidate(quote ?? message, text, more), courtOf(message, { next }))
  return 'rejection' in verdict ? verdict.rejection : 'kept'
}

for (const each of [...KEPT, ...MORE_KEPT]) {
  const [message, , text] = each
  test(`kept: “${message}” as “${text}”`, () => {
    expect(verdictOf(each)).toBe('kept')
  })
}

for (const [reason, ...each] of [...REJECTED, ...MORE_REJECTED]) {
  const [message, , text] = each
  test(`${reason}: “${message}” as “${text}”`, () => {
    expect(verdictOf(each)).toBe(reason)
  })
}

describe('what surrounds the message', () => {
  test('what the next message takes back in jest was never so', () => {
    const said: Case = ["I'm the king of Spain", null, 'Is the king of Spain', { value: 'king of Spain' }]
    expect(verdictOf(said, 'Just kidding!')).toBe('joke')
    expect(verdictOf(said, 'What is for dinner?')).toBe('kept')
  })

  test('words of the delegate are nobody’s, unless the owner agreed to them', () => {
    const shown = [utterance('You live in Ulm, right?', { speaker: 'delegate', seq: 9 })]
    const claim = candidate('You live in Ulm', 'Lives in Ulm', { value: 'Ulm' })
    expect(judge(claim, courtOf('Nice weather', { shown }))).toEqual({ rejection: 'speaker_not_owner' })
  })

  test('a relation to a memory that was not shown is a reason to reject', () => {
    const claim = (memoryId: string) =>
      candidate('I like tea', 'Likes tea', { value: 'tea', relations: [{ memoryId, relation: 'same' }] })
    const court = courtOf('I like tea', { offered: [{ memoryId: 'a', text: 'Likes tea', storedSeq: 1 }] })
    expect(judge(claim('b'), court)).toEqual({ rejection: 'foreign_relation' })
    expect(judge(claim('a'), court)).toHaveProperty('evidence')
  })

  test('a refinement may carry the names and numbers of the memory that it refines', () => {
    const offered = [{ memoryId: 'a', text: 'Has a dog named Rex', storedSeq: 1 }]
    const claim = candidate('the dog is five now', 'Dog Rex is five', {
      value: 'five',
      relations: [{ memoryId: 'a', relation: 'refine' }],
    })
    expect(judge(claim, courtOf('the dog is five now', { offered }))).toHaveProperty('evidence')
    expect(judge({ ...claim, relations: [] }, courtOf('the dog is five now', { offered }))).toEqual({
      rejection: 'name_not_in_quote',
    })
  })
})

test('whatever a candidate says, it is kept only with a quote that the owner said', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme' }),
      (message, quote, text) => {
        const verdict = judge(candidate(quote, text), courtOf(message))
        if ('evidence' in verdict)
          expect(verdict.evidence.text.replaceAll('\n', ' ')).toContain(verdict.evidence.quote.text)
      },
    ),
    { numRuns: 500 },
  )
})

test('a digit that the owner did not say never gets in', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1000, max: 99_999 }),
      fc.integer({ min: 1000, max: 99_999 }),
      (said, claimed) => {
        fc.pre(said !== claimed)
        const message = `My locker code is ${said}`
        const verdict = verdictOf([
          message,
          null,
          `The locker code is ${claimed}`,
          { value: String(claimed) },
        ])
        expect(verdict).toBe('number_not_in_quote')
      },
    ),
  )
})

// Each of these would take hours where it is gone through again from each of its characters.
test('a row of endless dots inside a text is gone through once', () => {
  expect(sentencesOf(`chapter one${'.'.repeat(200_000)}12 it ends. And so on...`)).toHaveLength(2)
})

test('words that go on without an end hold up no gate', () => {
  for (const endless of ['中'.repeat(60_000), "a'".repeat(30_000)])
    expect(verdictOf([`I like tea ${endless}`, 'I like tea', 'The owner likes tea'])).toBe('kept')
  expect(spokenNumbers(`${'é'.repeat(300_000)} twenty-four`)).toContain(24)
})
