import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judge, type Rejection } from '../../../src/memory/learn/gates.ts'
import { spokenNumbers } from '../../../src/text/numbers.ts'
import { sentencesOf } from '../../../src/text/text.ts'
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
  test(`keeps “${message}” as “${text}”`, () => {
    expect(verdictOf(each)).toBe('kept')
  })
}

for (const [reason, ...each] of [...REJECTED, ...MORE_REJECTED]) {
  const [message, , text] = each
  test(`rejects “${message}” as “${text}”: ${reason}`, () => {
    expect(verdictOf(each)).toBe(reason)
  })
}

describe('the context of a message', () => {
  test('rejects what the next message calls a joke', () => {
    const said: Case = ["I'm the king of Spain", null, 'Is the king of Spain', { value: 'king of Spain' }]
    expect(verdictOf(said, 'Just kidding!')).toBe('joke')
    expect(verdictOf(said, 'What is for dinner?')).toBe('kept')
  })

  test('rejects words of the delegate without the owner’s consent', () => {
    const shown = [utterance('You live in Ulm, right?', { speaker: 'delegate', seq: 9 })]
    const claim = candidate('You live in Ulm', 'Lives in Ulm', { value: 'Ulm' })
    expect(judge(claim, courtOf('Nice weather', { shown }))).toEqual({ rejection: 'speaker_not_owner' })
  })

  test('rejects a relation to a memory that was not shown', () => {
    const claim = (memoryId: string) =>
      candidate('I like tea', 'Likes tea', { value: 'tea', relations: [{ memoryId, relation: 'same' }] })
    const court = courtOf('I like tea', { offered: [{ memoryId: 'a', text: 'Likes tea', storedSeq: 1 }] })
    expect(judge(claim('b'), court)).toEqual({ rejection: 'foreign_relation' })
    expect(judge(claim('a'), court)).toHaveProperty('evidence')
  })

  test('allows the names and numbers of the memory that a refinement refines', () => {
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

test('keeps a candidate only with a quote that the owner said', () => {
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

test('never accepts a number that the owner did not say', () => {
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

// Quadratic time would take hours here.
test('splits sentences around endless dots in linear time', () => {
  expect(sentencesOf(`chapter one${'.'.repeat(200_000)}12 it ends. And so on...`)).toHaveLength(2)
})

test('checks an endless run of words in linear time', () => {
  for (const endless of ['中'.repeat(60_000), "a'".repeat(30_000)])
    expect(verdictOf([`I like tea ${endless}`, 'I like tea', 'The owner likes tea'])).toBe('kept')
  expect(spokenNumbers(`${'é'.repeat(300_000)} twenty-four`)).toContain(24)
})
