import { expect, test } from 'vitest'
import type { NewEvent } from '../../../ledger/event.ts'
import type { Hit } from '../../../src/memory/recall/ranker.ts'
import { createRecollections } from '../../../src/memory/recall/recollections.ts'
import { exampleOf } from '../../support/facts.ts'
import { said } from '../../support/writer.ts'
import { openWriterAndViews } from '../../support/writer-and-views.ts'

const stored = (
  text: string,
  memoryId: string,
  sourceSeqs: number[],
  supersedes: string | null = null,
): NewEvent => {
  const example = exampleOf('memory.stored', { derivedFrom: sourceSeqs })
  if (example.type !== 'memory.stored') throw new Error('unexpected example')
  return {
    ...example,
    facts: { ...example.facts, memoryId, sourceSeqs, supersedes, linkedTo: null, provisional: false },
    body: { ...example.body, text, subject: 'owner', slot: 'residence', value: text },
  }
}

function open() {
  const { writer, views } = openWriterAndViews()
  const recollect = createRecollections({ views, ledger: writer.ledger })
  const read = (...hits: [Hit['kind'], number][]) =>
    [
      ...recollect(
        hits.map(([kind, seq]) => ({ kind, seq, speaker: 'owner', atMs: 0, score: 1, relevance: 1 })),
      ),
    ].map(({ seq, text, status, corrections, memory }) => ({
      seq,
      text,
      status,
      corrections,
      sources: memory?.sourceSeqs,
    }))
  return { writer, read }
}

test('returns turns and memories with their text, status and sources', () => {
  const { writer, read } = open()
  writer.append(said('I live in Berlin'))
  writer.append(stored('Lives in Berlin', 'a', [1]))
  expect(read(['memory', 2], ['turn', 1])).toEqual([
    { seq: 2, text: 'Lives in Berlin', status: 'active', corrections: [], sources: [1] },
    { seq: 1, text: 'I live in Berlin', status: 'said', corrections: [], sources: undefined },
  ])
})

test('hides a superseded memory and tells what corrects its source', () => {
  const { writer, read } = open()
  writer.append(said('I live in Berlin'))
  writer.append(stored('Lives in Berlin', 'a', [1]))
  writer.append(said('I moved to Hamburg'))
  writer.append(stored('Lives in Hamburg', 'b', [3], 'a'))
  writer.append({
    type: 'memory.overridden',
    actor: 'service',
    facts: { memoryId: 'a', byId: 'b', validUntil: '2030-01-02T00:00:00.000Z' },
  })
  expect(read(['turn', 1], ['memory', 2], ['turn', 3], ['memory', 4])).toMatchObject([
    { seq: 1, corrections: [{ seq: 4, text: 'Lives in Hamburg' }] },
    { seq: 3, status: 'said' },
    { seq: 4, status: 'active' },
  ])
})

test('tells what holds now beside a reply that repeats what was replaced, also twice', () => {
  const { writer, read } = open()
  writer.append(said('I live in Berlin'))
  writer.append(stored('Lives in Berlin', 'a', [1]))
  const reply: NewEvent = {
    type: 'chat.reply.sent',
    actor: 'delegate',
    facts: {},
    body: { text: 'You live in Berlin.' },
  }
  writer.append({ ...reply, derivedFrom: [1] })
  writer.append({ ...reply, derivedFrom: [2] })
  const validUntil = '2030-01-02T00:00:00.000Z'
  const overridden = (memoryId: string, byId: string): NewEvent => ({
    type: 'memory.overridden',
    actor: 'service',
    facts: { memoryId, byId, validUntil },
  })
  writer.append(stored('Lives in Ulm', 'b', [], 'a'))
  writer.append(overridden('a', 'b'))
  writer.append(stored('Lives in Hamburg', 'c', [], 'b'))
  writer.append(overridden('b', 'c'))
  const corrections = [{ seq: 7, text: 'Lives in Hamburg' }]
  expect(read(['turn', 1], ['turn', 3], ['turn', 4])).toMatchObject([
    { seq: 1, corrections },
    { seq: 3, corrections },
    { seq: 4, corrections },
  ])
})

test('hides retired memories, erased turns and unknown seqs', () => {
  const { writer, read } = open()
  writer.append(said('I live in Berlin'))
  writer.append(stored('Lives in Berlin', 'a', []))
  writer.append({ type: 'memory.retired', actor: 'service', facts: { memoryId: 'a', reason: 'owner' } })
  writer.forget(1)
  expect(read(['turn', 1], ['memory', 2], ['turn', 99])).toEqual([])
})
