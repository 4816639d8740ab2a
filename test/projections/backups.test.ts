import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createBackupQueries } from '../../projections/backups.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter } from '../support/writer.ts'

const actor = 'service'
const nameOf = (day: string) => `delegate-${day}T030000Z.backup`
const made = (day: string): NewEvent => ({
  type: 'backup.made',
  actor,
  facts: { name: nameOf(day), bytes: 10, events: 5, headHash: 'h', digest: 'd' },
})
const failed = (step: 'make' | 'copy' | 'test'): NewEvent => ({
  type: 'backup.failed',
  actor,
  facts: { step, reason: 'Why.' },
})
const tested = (day: string, ok: boolean): NewEvent => ({
  type: 'backup.tested',
  actor,
  facts: { name: nameOf(day), ok, ...(!ok && { reason: 'Bad.' }) },
})

function fold(...facts: NewEvent[]) {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (const fact of facts) writer.append(fact)
  writer.close()
  const views = openViewsReadOnly(directory)
  const { kept, all, step } = createBackupQueries(views)
  const found = {
    kept: kept().map(({ name }) => name),
    all: all().length,
    make: step('make'),
    test: step('test'),
    copy: step('copy'),
    isAsked: step('request').doneSeq > 0,
  }
  views.close()
  return found
}

test('lists the backups that were not removed, by when they were begun', () => {
  const removed: NewEvent = { type: 'backup.removed', actor, facts: { names: [nameOf('2026-01-02')] } }
  // An adopted one is recorded later.
  const { kept, all } = fold(made('2026-01-03'), made('2026-01-02'), removed, made('2026-01-01'))
  expect(kept).toEqual([nameOf('2026-01-03'), nameOf('2026-01-01')])
  expect(all).toBe(3)
})

test('counts failures in a row of each step, until it succeeds', () => {
  const { make, copy, test: last } = fold(failed('make'), failed('copy'), failed('make'))
  expect([make.failures, make.reason, make.doneSeq]).toEqual([2, 'Why.', 0])
  expect([copy.failures, last.failures]).toEqual([1, 0])
  expect(fold(failed('make'), made('2026-01-01')).make).toMatchObject({ failures: 0, reason: null })
})

test('knows the last test, once, although its failure is a fact of its own', () => {
  expect(fold(tested('2026-01-01', true)).test).toMatchObject({ reason: null, name: nameOf('2026-01-01') })
  const found = fold(tested('2026-01-01', true), tested('2026-01-02', false), failed('test')).test
  expect(found).toMatchObject({ failures: 1, reason: 'Why.', name: nameOf('2026-01-02') })
  expect(fold(tested('2026-01-02', false), failed('test'), tested('2026-01-02', true)).test).toMatchObject({
    failures: 0,
  })
})

test('requests a backup after a new directory or passphrase, as the owner does', () => {
  const changed = (...keys: string[]): NewEvent => ({
    type: 'settings.changed',
    actor: 'owner',
    facts: { keys },
  })
  expect(fold(changed('TIMEZONE', 'BACKUP_HOUR')).isAsked).toBe(false)
  expect(fold(changed('BACKUP_PASSPHRASE', 'TIMEZONE')).isAsked).toBe(true)
  expect(fold({ type: 'backup.requested', actor: 'owner', facts: {} }).isAsked).toBe(true)
})
