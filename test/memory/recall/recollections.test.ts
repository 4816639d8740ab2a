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

test('hides retired memories, erased turns and unknown seqs', () => {
  const { writer, read } = open()
  writer.append(said('I live in Berlin'))
  writer.append(stored('Lives in Berlin', 'a', []))
  writer.append({ type: 'memory.retired', actor: 'service', facts: { memoryId: 'a', reason: 'owner' } })
  writer.forget(1)
  expect(read(['turn', 1], ['memory', 2], ['turn', 99])).toEqual([])
})
