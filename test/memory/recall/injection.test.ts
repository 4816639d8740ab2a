import fc from 'fast-check'
import { expect, test } from 'vitest'
import { composeInjection, type InjectionOptions } from '../../../src/memory/recall/injection.ts'
import type { Recollection } from '../../../src/memory/recall/recollections.ts'
import { estimateTokens } from '../../../src/model/tokens.ts'

const OPTIONS: InjectionOptions = {
  maxInjectedTokens: 500,
  relevanceThreshold: 0.2,
  maxInjectedMemories: 12,
  cue: 'tea',
  timezone: 'UTC',
}

function turn(seq: number, text: string, more: Partial<Recollection> = {}): Recollection {
  const atMs = Date.UTC(2026, 0, seq)
  return {
    seq,
    kind: 'turn',
    speaker: 'owner',
    atMs,
    score: 1,
    relevance: 1,
    text,
    status: 'said',
    corrections: [],
    memory: null,
    ...more,
  }
}

function memory(
  seq: number,
  text: string,
  more: Partial<NonNullable<Recollection['memory']>> = {},
): Recollection {
  const facts = { id: `m${seq}`, subject: 'owner', slot: '', value: '', sourceSeqs: [], ...more }
  return turn(seq, text, { kind: 'memory', status: 'active', memory: facts })
}

function compose(recollections: readonly Recollection[], more: Partial<InjectionOptions> = {}) {
  return composeInjection(recollections, { ...OPTIONS, ...more })
}

test('writes each line with date and status, oldest first', () => {
  const { text } = compose([
    memory(5, 'Likes green tea'),
    turn(3, 'I drink tea', { corrections: [{ seq: 4, text: 'Drinks coffee' }] }),
    { ...memory(4, 'Likes black tea'), status: 'contested' },
    turn(2, 'Tea it is', { speaker: 'delegate' }),
  ])
  expect(text).toBe(
    [
      '2026-01-02 delegate: Tea it is',
      '2026-01-03 owner (since corrected: Drinks coffee): I drink tea',
      '2026-01-04 memory (contested): Likes black tea',
      '2026-01-05 memory (active): Likes green tea',
    ].join('\n'),
  )
})

test("writes dates in the owner's zone at that time", () => {
  const said = turn(1, 'tea', { atMs: Date.UTC(2026, 0, 1, 23) })
  expect(compose([said], { timezone: 'Africa/Cairo' }).text).toMatch(/^2026-01-02 /)
  const winter = turn(2, 'tea in winter', { atMs: Date.UTC(2026, 1, 1, 22, 30) })
  const summer = turn(3, 'tea in summer', { atMs: Date.UTC(2026, 6, 1, 22, 30) })
  const { text } = compose([winter, summer], { timezone: 'Europe/Berlin' })
  expect(text.match(/^\S+/gm)).toEqual(['2026-02-01', '2026-07-02'])
})

test('never exceeds the budget', () => {
  const aRecollection = fc
    .tuple(
      fc.integer({ min: 1, max: 300 }),
      fc.string({ unit: 'grapheme', maxLength: 2000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
    )
    .map(([seq, text, relevance]) => turn(seq, text, { relevance }))
  fc.assert(
    fc.property(
      fc.uniqueArray(aRecollection, { selector: ({ seq }) => seq, maxLength: 30 }),
      fc.integer({ min: 0, max: 1000 }),
      (all, maxInjectedTokens) => {
        const { text, tokens, included, suppressed } = compose(all, { maxInjectedTokens })
        expect(tokens).toBeLessThanOrEqual(maxInjectedTokens)
        expect(estimateTokens(text)).toBeLessThanOrEqual(maxInjectedTokens)
        const seqs = [...included.map(({ seq }) => seq), ...suppressed.map(({ hit }) => hit.seq)]
        expect(new Set(seqs).size).toBe(seqs.length)
      },
    ),
  )
})

test('fills the room left by a long line with a shorter one', () => {
  const { included, suppressed } = compose(
    [turn(1, 'tea '.repeat(20)), turn(2, 'tea '.repeat(60)), turn(3, 'tea')],
    {
      maxInjectedTokens: 60,
    },
  )
  expect(included.map(({ seq }) => seq)).toEqual([1, 3])
  expect(suppressed).toMatchObject([{ hit: { seq: 2 }, reason: 'budget' }])
})

test('shows nothing unless one line reaches the threshold, and beside it what comes near', () => {
  const weak = [turn(1, 'tea', { relevance: 0.19 }), turn(2, 'milk', { relevance: 0.1 })]
  expect(compose(weak).text).toBe('')
  const { included } = compose([...weak, turn(3, 'green tea', { relevance: 0.9 })])
  expect(included.map(({ seq }) => seq)).toEqual([1, 3])
})

test('drops repeated words, repeated values of a slot, and the source turn of a memory', () => {
  const { included, suppressed } = compose([
    memory(10, 'Lives in Berlin', { slot: 'residence', value: 'Berlin', sourceSeqs: [1] }),
    turn(1, 'I live in Berlin'),
    memory(11, 'The owner resides in berlin', { slot: 'residence', value: 'berlin' }),
    memory(12, 'Lives in Potsdam', { slot: 'residence', value: 'Potsdam' }),
    turn(2, 'Tea, please!'),
    turn(3, 'tea please'),
    memory(13, 'Likes tea', { sourceSeqs: [2] }),
  ])
  expect(included.map(({ seq }) => seq)).toEqual([10, 12, 2])
  expect(suppressed.map(({ hit, reason }) => [hit.seq, reason])).toEqual([
    [1, 'duplicate'],
    [11, 'duplicate'],
    [3, 'duplicate'],
    [13, 'duplicate'],
  ])
})

test('shows several memories of one turn', () => {
  const { included } = compose([
    memory(10, 'Mum is 72', { sourceSeqs: [1] }),
    memory(11, 'Mum drinks decaf', { sourceSeqs: [1] }),
  ])
  expect(included.map(({ seq }) => seq)).toEqual([10, 11])
})

test('limits the number of lines', () => {
  const all = [memory(1, 'one tea'), memory(2, 'two teas'), turn(3, 'three teas')]
  expect(compose(all, { maxInjectedMemories: 2 }).included.map(({ seq }) => seq)).toEqual([1, 2])
})

test('cuts a long text to the sentences relevant to the cue', () => {
  const filler = 'Nothing of interest happened on that day either. '.repeat(20)
  const { text } = compose([turn(1, `${filler}Then I bought tea in Assam. ${filler}`)])
  expect(text).toMatch(/^2026-01-01 owner: … Then I bought tea in Assam\. .* …$/)
  expect(estimateTokens(text)).toBeLessThan(200)
})

test('cuts a text without sentence ends', () => {
  const { text } = compose([turn(1, '茶'.repeat(3000))])
  expect(text).toMatch(/^2026-01-01 owner: 茶+ …$/)
  expect(estimateTokens(text)).toBeLessThan(200)
})
