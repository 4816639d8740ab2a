import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventOf } from '../../ledger/event.ts'
import { createTextQueries, textsProjection } from '../../projections/texts.ts'

const ORDER = ['accepted', 'queued', 'sending', 'sent', 'delivered', 'read']

function fold(statuses: readonly string[]) {
  const db = new Database(':memory:')
  db.exec(textsProjection.schema)
  const report = textsProjection.fold(db).handlers['sms.status.reported']
  for (const status of statuses) {
    // The fold reads only these fields.
    report?.({ facts: { messageSid: 'SM1', status } } as EventOf<'sms.status.reported'>)
  }
  return createTextQueries(db).status('SM1')?.status
}

test('ends in the furthest status, in any order and with repeats or gaps', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...ORDER), { minLength: 1, maxLength: 12 }), (reported) => {
      const furthest = ORDER.findLast((status) => reported.includes(status))
      expect(fold(reported)).toBe(furthest)
    }),
  )
})

test('ignores an unknown status', () => {
  expect(fold(['sent', 'teleported'])).toBe('sent')
})

test('keeps the first final status, whatever comes before or after', () => {
  const end = fc.constantFrom('delivered', 'undelivered', 'failed', 'canceled')
  const way = fc.array(fc.constantFrom('accepted', 'queued', 'sending', 'sent'), { maxLength: 4 })
  fc.assert(
    fc.property(way, fc.array(end, { minLength: 1, maxLength: 4 }), way, (before, ends, after) => {
      expect(fold([...before, ...ends, ...after])).toBe(ends[0])
    }),
  )
})
