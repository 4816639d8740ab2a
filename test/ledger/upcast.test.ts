import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type EventRow, GENESIS_HASH, parseRow } from '../../ledger/codec.ts'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { catalogue } from '../../ledger/events/catalogue.ts'
import { lift } from '../../ledger/upcast.ts'
import { verifyLink } from '../../ledger/verify.ts'
import { eventTypes } from '../support/facts.ts'

const goldenDirectory = join(import.meta.dirname, 'golden')

function goldenOf(type: string): EventRow[] {
  const file = join(goldenDirectory, `${type}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

test.each(eventTypes)('has a golden event for every stored version of %s', (type) => {
  const versions = goldenOf(type).map(({ version }) => version)
  expect(versions, 'run: npx node test/ledger/golden/write-missing.ts').toEqual(
    Array.from({ length: catalogue[type].version }, (_, index) => index + 1),
  )
})

test.each(readdirSync(goldenDirectory).filter((name) => name.endsWith('.json')))(
  'parses golden/%s with and without bodies, and keeps its hashes',
  (name) => {
    for (const row of goldenOf(name.replace(/\.json$/, ''))) {
      const event = parseRow(row)
      expect(event).toMatchObject({ type: row.type, seq: row.seq, erased: false, hash: row.hash })
      const erased = parseRow({ ...row, body: null })
      expect(erased).toMatchObject({ type: row.type, body: null, erased: row.body !== null })
      expect(verifyLink({ seq: row.seq - 1, hash: GENESIS_HASH }, row).hash).toBe(row.hash)
    }
  },
)

test('lifts an old body one version at a time, and an erased one as well', () => {
  const steps = {
    1: ({ facts, body }: { facts: unknown; body: unknown }) => ({
      facts: { ...Object(facts), channels: [] },
      body: body === null ? null : { text: Object(body).words },
    }),
    2: ({ facts, body }: { facts: unknown; body: unknown }) => ({
      facts: { ...Object(facts), count: 0 },
      body,
    }),
  }
  const lifted = { facts: { a: 1, channels: [], count: 0 }, body: { text: 'tea' } }
  expect(lift({ facts: { a: 1 }, body: { words: 'tea' } }, 1, 3, steps)).toEqual(lifted)
  expect(lift({ facts: { a: 1 }, body: null }, 1, 3, steps)).toEqual({ ...lifted, body: null })
  expect(lift({ facts: { a: 1, channels: [] }, body: null }, 2, 3, steps)).toEqual({ ...lifted, body: null })
})

test('reports a version without an upcaster as damage, with its seq', () => {
  const [row] = goldenOf('chat.message.received')
  if (!row) throw new Error('no golden event')
  const old = { ...row, version: 0, seq: 41 }
  expect(() => parseRow(old)).toThrow(LedgerDamaged)
  expect(() => parseRow(old)).toThrow(/41/)
})

test('keeps an event of a later build as unknown, without its body', () => {
  const [row] = goldenOf('chat.message.received')
  if (!row) throw new Error('no golden event')
  const newer = parseRow({ ...row, version: 99 })
  expect(newer).toMatchObject({ type: 'unknown', originalType: 'chat.message.received', version: 99 })
  const other = parseRow({ ...row, type: 'dream.dreamt' })
  expect(other).toMatchObject({ type: 'unknown', originalType: 'dream.dreamt', seq: row.seq })
  expect(JSON.stringify([newer, other])).not.toContain('tea')
})

test('reads an event without the fields that a later build added', () => {
  const [row] = goldenOf('chat.message.received')
  if (!row) throw new Error('no golden event')
  const facts = JSON.stringify({ ...JSON.parse(row.facts), more: 1 })
  expect(parseRow({ ...row, facts, body: '{"text":"x","more":1}' })).toEqual({
    ...parseRow(row),
    body: { text: 'x' },
  })
})

test('reports a stored event that does not match its schema as damage, with its seq', () => {
  const [row] = goldenOf('chat.message.received')
  if (!row) throw new Error('no golden event')
  for (const changed of [{ body: '{"text":""}' }, { facts: '{' }, { derivedFrom: '{}' }]) {
    expect(() => parseRow({ ...row, seq: 7, ...changed })).toThrow(
      expect.objectContaining({ name: 'LedgerDamaged', seq: 7 }),
    )
  }
})
