import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { catalogue } from '../../ledger/events/catalogue.ts'
import { ledgerFile, openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { MAX_PAGE_BODY_BYTES } from '../../projections/timeline-event.ts'
import { createTimelineQueries } from '../../projections/timeline-page.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
import { pageOf } from '../support/timeline-page.ts'
import { openTestWriter, said } from '../support/writer.ts'

/** The events of the newest page as served. */
function shownIn(directory: string) {
  const ledgerDb = openLedgerReadOnly(directory)
  const views = openViewsReadOnly(directory)
  try {
    return pageOf(createTimelineQueries(views, createReader(ledgerDb)), { limit: 1000 }).events
  } finally {
    views.close()
    ledgerDb.close()
  }
}

test('serves large bodies, unknown types and quoted ids', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('東'.repeat(MAX_PAGE_BODY_BYTES / 3 + 1)))
  writer.append(said('"}\\ \u2028 \ud83d\ude00', { spanId: 'a "quoted"\n span', conversationId: 'é' }))
  writer.append(said('from a later build'))
  writer.append(said('from an export that another program wrote'))
  writer.close()
  alter(directory, "UPDATE events SET type = 'weather.changed' WHERE seq = 3")
  alter(directory, `UPDATE events SET facts = '{ }', body = '{ "text": "spaced" }' WHERE seq = 4`)
  expect(shownIn(directory)).toMatchObject([
    { payload: { excerpt: expect.any(String), bytes: expect.any(Number) } },
    { spanId: 'a "quoted"\n span', conversationId: 'é', payload: { text: '"}\\ \u2028 \ud83d\ude00' } },
    { type: 'weather.changed', payload: {} },
    { payload: { text: 'spaced' } },
  ])
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
  expect(shownIn(directory)[0]?.payload).toMatchObject({ title: 'Lisbon', excerpt: content.slice(0, 500) })
})

test('reports a row that is not JSON as damage', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('tea'))
  writer.close()
  alter(directory, `UPDATE events SET body = '{"text":"tea' WHERE seq = 1`)
  expect(() => shownIn(directory)).toThrow(LedgerDamaged)
})

test.each(Object.entries(catalogue))(
  'uses no field name in both facts and body of %s, where one would hide the other',
  (_, { facts, body }) => {
    const names = Object.keys(facts.shape)
    const both = Object.keys(body?.shape ?? {}).filter((name) => names.includes(name))
    expect([both, body !== null && names.includes('erased')]).toEqual([[], false])
  },
)

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
