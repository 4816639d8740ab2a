import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LedgerDamaged } from '../../ledger/errors.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { catalogue } from '../../ledger/events/catalogue.ts'
import { ledgerFile, openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { MAX_PAGE_BODY_BYTES, toTimelineEvent } from '../../projections/timeline-event.ts'
import { createTimelineQueries } from '../../projections/timeline-page.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { veilLedger } from '../../src/storage/veil.ts'
import { testDirectory } from '../support/directory.ts'
import { aFact, aSeq } from '../support/facts.ts'
import { pageOf } from '../support/timeline-page.ts'
import { openTestWriter, said } from '../support/writer.ts'

/** The newest page as served, and its events read and parsed one by one. */
function readBothWays(directory: string) {
  const ledgerDb = openLedgerReadOnly(directory)
  const views = openViewsReadOnly(directory)
  try {
    const ledger = veilLedger(createReader(ledgerDb), views)
    const { events } = pageOf(createTimelineQueries(views, ledger), { limit: 1000 })
    const parsed = ledger.readSeqs(events.map(({ seq }) => seq)).map((event) => toTimelineEvent(event))
    return { shown: events, parsed: JSON.parse(JSON.stringify(parsed)) }
  } finally {
    views.close()
    ledgerDb.close()
  }
}

test('serves stored events exactly as parsed ones, including erased and hidden ones', () => {
  fc.assert(
    fc.property(
      // Excluded, because a page shows a redacted reply with the text of another event.
      fc.array(
        aFact.filter(({ type }) => type !== 'reply.redacted'),
        { minLength: 1, maxLength: 40 },
      ),
      fc.array(aSeq, { maxLength: 3 }),
      fc.array(aSeq, { minLength: 1, maxLength: 8 }),
      (facts, erased, hidden) => {
        const directory = testDirectory()
        const writer = openTestWriter(directory)
        for (const fact of [said('tea'), ...facts]) writer.append(fact)
        writer.append(hiding(hidden))
        writer.forget(...erased)
        writer.close()
        const { shown, parsed } = readBothWays(directory)
        expect(shown.length).toBeGreaterThan(0)
        expect(shown).toEqual(parsed)
      },
    ),
    { numRuns: 40 },
  )
})

test('serves special names, large bodies, unknown types and quoted ids exactly as parsed', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('東'.repeat(MAX_PAGE_BODY_BYTES / 3 + 1)))
  writer.append(said('\u0001'.repeat(MAX_PAGE_BODY_BYTES)))
  writer.append(said('"}\\ \u2028 \ud83d\ude00', { spanId: 'a "quoted"\n span', conversationId: 'é' }))
  writer.append(said('from a later build'))
  writer.append(said('from an export that another program wrote'))
  writer.close()
  alter(directory, "UPDATE events SET type = 'weather.changed' WHERE seq = 4")
  alter(directory, `UPDATE events SET facts = '{ }', body = '{ "text": "spaced" }' WHERE seq = 5`)
  const { shown, parsed } = readBothWays(directory)
  expect(shown).toEqual(parsed)
  expect(shown.map(({ type }) => type)).toContain('weather.changed')
  expect(shown[0]?.payload).toMatchObject({ bytes: expect.any(Number) })
})

test('keeps the title of an event with a large body', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  const content = 'x'.repeat(2 * MAX_PAGE_BODY_BYTES)
  writer.append({
    type: 'note.created',
    actor: 'owner',
    channel: 'chat',
    facts: { noteId: 'n1', source: 'owner' },
    body: { title: 'Lisbon', content },
  })
  writer.close()
  const { shown, parsed } = readBothWays(directory)
  expect(shown).toEqual(parsed)
  expect(shown[0]?.payload).toMatchObject({ title: 'Lisbon', excerpt: content.slice(0, 500) })
})

test('reports a row that is not JSON as damage', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('tea'))
  writer.close()
  alter(directory, `UPDATE events SET body = '{"text":"tea' WHERE seq = 1`)
  expect(() => readBothWays(directory)).toThrow(LedgerDamaged)
})

test.each(Object.entries(catalogue))(
  'uses no field name in both facts and body of %s, where one would hide the other',
  (_, { facts, body }) => {
    const names = Object.keys(facts.shape)
    const both = Object.keys(body?.shape ?? {}).filter((name) => names.includes(name))
    expect([both, body !== null && names.includes('erased')]).toEqual([[], false])
  },
)

/** A fact that hides these events until their erasure. */
const hiding = (seqs: readonly number[]): NewEvent => ({
  type: 'erasure.requested',
  actor: 'owner',
  channel: 'system',
  facts: {
    erasureId: 'erasure-1',
    target: 'period',
    targetId: null,
    from: null,
    to: null,
    seqs: [...new Set(seqs)],
    part: 0,
    parts: 1,
    kinds: [],
    eraseAt: '2030-01-01T01:00:00.000Z',
  },
})

/** Alters a stored event, which the product never does. */
function alter(directory: string, sql: string): void {
  const db = new Database(ledgerFile(directory))
  for (const { name } of db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all())
    db.exec(`DROP TRIGGER ${name}`)
  db.exec(sql)
  db.close()
}
