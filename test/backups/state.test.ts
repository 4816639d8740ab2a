import { expect, onTestFinished, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createBackupQueries } from '../../projections/backups.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { createBackupState } from '../../src/backups/state.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter } from '../support/writer.ts'

const actor = 'service'
const DAY_MS = 86_400_000
const NOW_MS = Date.parse('2026-11-26T12:00:00Z')

const made = (time: string, events: number): NewEvent => ({
  type: 'backup.made',
  actor,
  facts: { name: `delegate-${time}Z.backup`, bytes: 10, events, headHash: 'h', digest: 'd' },
})
const requested: NewEvent = { type: 'backup.requested', actor: 'owner', facts: {} }
const failed: NewEvent = {
  type: 'backup.failed',
  actor,
  facts: { step: 'remove', reason: 'The backup directory is read-only.' },
}

/** The state at noon, with backups at 3 each day. */
const stateOf = (...facts: NewEvent[]) => stateWith(() => NOW_MS, ...facts)

function stateWith(nowMs: () => number, ...facts: NewEvent[]) {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (const fact of facts) writer.append(fact)
  writer.close()
  const views = openViewsReadOnly(directory)
  onTestFinished(() => void views.close())
  return createBackupState({
    queries: createBackupQueries(views),
    settings: () => ({
      state: 'on',
      directory: '/backups',
      passphrase: 'seven grey herons',
      keep: { daily: 7, weekly: 5, monthly: 12 },
      schedule: { hour: 3, timezone: 'UTC' },
    }),
    hasCommand: false,
    isHeld: () => false,
    nowMs,
  })
}

const isDue = (...facts: NewEvent[]) =>
  stateOf(...facts)
    .steps()
    .find(({ step }) => step === 'make')?.inMs === 0

test('a request is met by a backup that holds it, and not by an older one that is adopted', () => {
  const today = '2026-11-26T030000'
  expect(isDue(made(today, 1))).toBe(false)
  expect(isDue(made(today, 1), requested)).toBe(true)
  expect(isDue(requested, made(today, 1))).toBe(false)
  // One in another directory, made before the owner asked.
  expect(isDue(made(today, 1), requested, made('2026-11-25T030000', 1))).toBe(true)
  // The ledger was restored from an older backup, and had more events.
  expect(isDue(made('2026-11-25T030000', 900), made(today, 1), requested)).toBe(true)
})

test('a backup that was made while the clock was ahead does not count, and is not replaced twice', () => {
  const ahead = made('2030-01-01T030000', 1)
  expect(isDue(ahead)).toBe(true)
  expect(isDue(ahead, made('2026-11-26T030000', 2))).toBe(false)
  expect(isDue(ahead, requested, made('2026-11-26T030000', 2))).toBe(false)
  expect(stateOf(ahead, made('2026-11-20T030000', 2)).problems()).toEqual([
    'The last backup is older than two days.',
  ])
})

test('a failed removal is a problem until the directory was compared again, after the next backup', () => {
  const problem = ['Old backups were not removed: The backup directory is read-only.']
  const first = made('2026-11-25T030000', 1)
  expect(stateOf(first, failed).problems()).toEqual(problem)
  expect(stateOf(first, failed, made('2026-11-26T030000', 3)).problems()).toEqual([])
  expect(stateOf(first, made('2026-11-26T030000', 3), failed).problems()).toEqual(problem)
})

test('a first backup that hangs is a problem two days after it was asked for', () => {
  // Without a request, the environment turned backups on.
  for (const facts of [[requested], []]) {
    const clock = { ms: Date.UTC(2030, 0, 1) }
    const state = stateWith(() => clock.ms, ...facts)
    clock.ms += DAY_MS
    expect(state.health()).toEqual({ ok: true, detail: 'The first backup is due.' })
    clock.ms += 2 * DAY_MS
    expect(state.problems()).toEqual(['The first backup has been due for two days.'])
  }
})
