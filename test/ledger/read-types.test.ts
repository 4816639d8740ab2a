import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventHeader } from '../../ledger/event.ts'
import { testDirectory } from '../support/directory.ts'
import { aFact, aSeq, eventTypes } from '../support/facts.ts'
import { openTestWriter } from '../support/writer.ts'

/** The fields of a header, without content. */
function headerOf(event: EventHeader): EventHeader {
  const { seq, type, version, at, conversationId, spanId, turnId, derivedFrom, channel } = event
  return { seq, type, version, at, conversationId, spanId, turnId, derivedFrom, channel }
}

test('reads the given types in full, and all others as headers or not at all', () => {
  fc.assert(
    fc.property(
      fc.array(aFact, { minLength: 5, maxLength: 60, size: 'max' }),
      fc.array(aSeq, { maxLength: 5 }),
      fc.subarray([...eventTypes]),
      fc.integer({ min: 0, max: 20 }),
      (facts, erased, types, after) => {
        const writer = openTestWriter(testDirectory())
        for (const fact of facts) writer.append(fact)
        writer.forget(...erased)
        const wanted = new Set<string>(types)
        const whole = writer.ledger.readAfter(after, 1000)
        const read = writer.ledger.readTypesAfter(wanted, after, 1000)
        expect(read.map(headerOf)).toEqual(whole.map(headerOf))
        expect(read.filter(({ type }) => wanted.has(type))).toEqual(
          whole.filter(({ type }) => wanted.has(type)),
        )
        expect(read.filter(({ type }) => !wanted.has(type))).toEqual(
          whole.filter(({ type }) => !wanted.has(type)).map(headerOf),
        )
        expect(writer.ledger.readOfTypes(wanted, { firstSeq: after + 1, lastSeq: 30 })).toEqual(
          whole.filter(({ seq, type }) => seq <= 30 && wanted.has(type)),
        )
        writer.close()
      },
    ),
    { numRuns: 20 },
  )
})
