import type { Database } from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { InvalidEvent, LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append } from '../../ledger/event.ts'
import { createTimers } from '../../src/timers/timers.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
export const YEAR_MS = 365 * DAY_MS

/** Timers on the service's own storage. A test can make the disk full or unreadable. */
export async function openTimers({ timezone = 'UTC' } = {}) {
  let nowMs = Date.now()
  const storage = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  const disk = { isFull: false, isUnreadable: false, refused: '' }
  const faults: unknown[] = []
  const append: Append = (events) =>
    disk.isFull
      ? Promise.reject(new LedgerUnavailable('the disk is full'))
      : disk.refused !== '' && JSON.stringify(events).includes(disk.refused)
        ? Promise.reject(new InvalidEvent('no such fact'))
        : storage.append(events)
  const views: Database = Object.create(storage.views)
  views.prepare = ((sql: string) => {
    const statement = storage.views.prepare<unknown[], unknown>(sql)
    const get = statement.get.bind(statement)
    statement.get = (...parameters) => {
      if (disk.isUnreadable) throw new Error('database disk image is malformed')
      return get(...parameters)
    }
    return statement
  }) as typeof views.prepare
  const open = () =>
    createTimers({
      storage: { append, views, ledger: storage.ledger, onHeadMoved: storage.onHeadMoved },
      placement: { appendToConversation: (_channel, compose) => append(compose('c')) },
      timezone: () => timezone,
      nowMs: () => nowMs,
      newId,
      onFault: (error) => void faults.push(error),
    })
  const timers = open()
  onTestFinished(() => timers.close())
  const set = async (title: string) => {
    const outcome = await timers.set(
      { title, dueAt: new Date(nowMs + 60_000), recurrence: null },
      { by: 'owner' },
    )
    if (outcome.status !== 'set') throw new Error(outcome.reason)
    return outcome.timer
  }
  const signals = () =>
    storage.ledger
      .readRange(1, 1000)
      .flatMap((event) => (event.type === 'signal.raised' ? [event.body?.text] : []))
  const pass = (ms: number) => {
    nowMs += ms
  }
  const every = async (recurrence: string, missedPolicy: 'fire_once' | 'skip', dueAt: Date | null = null) => {
    const outcome = await timers.set({ title: recurrence, dueAt, recurrence, missedPolicy }, { by: 'owner' })
    if (outcome.status !== 'set') throw new Error(outcome.reason)
    return outcome.timer
  }
  const facts = () => storage.ledger.readRange(1, 10_000)
  /** Restarts, as after a kill, and handles everything that is due. */
  const restart = async () => {
    const started = open()
    started.start()
    await started.close()
  }
  return { storage, timers, open, facts, restart, disk, faults, set, signals, pass, every, now: () => nowMs }
}
