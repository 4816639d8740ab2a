import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LedgerReader } from '../../ledger/reader.ts'
import { createStandingQuery } from '../../projections/checkpoints.ts'
import { ENTRY_TYPES, recallProjection } from '../../projections/recall-index.ts'
import { createIndexing } from '../../src/memory/recall/indexing.ts'
import { aFact, exampleOf } from '../support/facts.ts'
import { said } from '../support/writer.ts'
import { openWriterAndViews } from '../support/writer-and-views.ts'

/** A ledger whose views are indexed only on demand. */
function open() {
  const { writer, views } = openWriterAndViews()
  let catchUps = 0
  const indexed = createIndexing({
    views,
    ledger: writer.ledger,
    catchUp: async () => {
      catchUps += 1
      writer.settle()
    },
  })
  const indexedSeq = createStandingQuery(views, recallProjection.name)
  return { writer, views, indexed, indexedSeq, catchUps: () => catchUps }
}

function entriesOf(ledger: LedgerReader): number[] {
  const types: readonly string[] = ENTRY_TYPES
  return ledger.readAfter(0, 10_000).flatMap(({ seq, type }) => (types.includes(type) ? [seq] : []))
}

test('lists the same entry types that the index folds, except for what begins a call or a turn', () => {
  const { views } = open()
  const { handlers } = recallProjection.fold(views)
  const begins = ['call.offered', 'call.connected', 'turn.started']
  const folded = Object.keys(handlers).filter((type) => !begins.includes(type))
  expect([...ENTRY_TYPES].sort()).toEqual(folded.sort())
})

test('indexes or already holds in context everything that may be recalled', { tags: ['long'] }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ facts: fc.array(aFact, { minLength: 1, maxLength: 4 }), settles: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.nat(),
      fc.func(fc.boolean()),
      async (batches, beforeIndex, isGiven) => {
        const { writer, indexed, indexedSeq } = open()
        for (const { facts, settles } of batches) {
          writer.append(...facts)
          if (settles) writer.settle()
        }
        const beforeSeq = 1 + (beforeIndex % (writer.ledger.head().seq + 2))
        const entries = entriesOf(writer.ledger).filter((seq) => seq < beforeSeq)
        const inContextSeqs = entries.filter(isGiven)
        await indexed(beforeSeq, inContextSeqs)
        const missed = entries.filter((seq) => seq > indexedSeq() && !inContextSeqs.includes(seq))
        expect(missed).toEqual([])
      },
    ),
    { numRuns: 60 },
  )
})

test('does not wait for the index to catch up on the current conversation', async () => {
  const { writer, indexed, catchUps } = open()
  const inContextSeqs: number[] = []
  for (let turn = 1; turn <= 20; turn += 1) {
    await indexed(writer.ledger.head().seq + 1, inContextSeqs)
    writer.append(said(`message ${turn}`), exampleOf('turn.started'), exampleOf('context.usage.recorded'))
    inContextSeqs.push(turn * 3 - 2)
  }
  expect(catchUps()).toBe(0)
  writer.append(exampleOf('memory.stored'))
  await indexed(Number.MAX_SAFE_INTEGER, inContextSeqs)
  expect(catchUps()).toBe(1)
})

test('catches up an index that is far behind, whatever it lacks', async () => {
  const { writer, indexed, catchUps } = open()
  for (let index = 0; index < 101; index += 1) writer.append(exampleOf('turn.started'))
  await indexed(Number.MAX_SAFE_INTEGER, [])
  expect(catchUps()).toBe(1)
  await indexed(Number.MAX_SAFE_INTEGER, [])
  expect(catchUps()).toBe(1)
})
