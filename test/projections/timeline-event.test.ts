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

/** The newest page, and its events as they are when each is read and parsed. */
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

test('an event passed on as it is stored is what it is when it is parsed, erased and hidden ones too', () => {
  fc.assert(
    fc.property(
      // What a page shows of a redacted reply is not the event alone.
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

test('names, large bodies, foreign types and quoted ids are the same either way', () => {
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

test('what has a title keeps it on a page, however large its text is', () => {
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

test('a row that is not JSON is damage, not a page that nobody can read', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('tea'))
  writer.close()
  alter(directory, `UPDATE events SET body = '{"text":"tea' WHERE seq = 1`)
  expect(() => readBothWays(directory)).toThrow(LedgerDamaged)
})

test.each(Object.entries(catalogue))(
  'facts and body of %s share no name: one would hide the other',
  (_, { facts, body }) => {
    const names = Object.keys(facts.shape)
    const both = Object.keys(body?.shape ?? {}).filter((name) => names.includes(name))
    expect([both, body !== null && names.includes('erased')]).toEqual([[], false])
  },
)

/** Hides until it is erased. */
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

/** What nothing in the product does. */
function alter(directory: string, sql: string): void {
  const db = new Database(ledgerFile(directory))
  for (const { name } of db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all())
    db.exec(`DROP TRIGGER ${name}`)
  db.exec(sql)
  db.close()
}
