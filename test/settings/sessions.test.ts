import { expect, test } from 'vitest'
import { createSessions, SESSION_IDLE_MS, SESSION_MAX_MS } from '../../src/settings/sessions.ts'
import { openSettingsStore, type SettingsStore } from '../../src/settings/store.ts'
import { newDirectory } from './owner-state.ts'

const START_MS = Date.parse('2026-01-01T00:00:00Z')
const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000

function openSessions(change: (store: SettingsStore) => SettingsStore = (store) => store) {
  const clock = { nowMs: START_MS }
  const warnings: string[] = []
  let count = 0
  const sessions = createSessions({
    store: change(openSettingsStore(newDirectory())),
    nowMs: () => clock.nowMs,
    newId: () => `session-${++count}`,
    newToken: () => `token-${count}`,
    onWarning: (message) => void warnings.push(message),
  })
  const begin = () => {
    const { token, session } = sessions.prepare('Browser')
    sessions.save(session)
    return token
  }
  return { sessions, clock, warnings, begin }
}

test('ends a session in time even if it began while the clock was ten years ahead', () => {
  const { sessions, clock, begin } = openSessions()
  clock.nowMs = START_MS + TEN_YEARS_MS
  const [used, unused] = [begin(), begin()]
  clock.nowMs = START_MS
  expect(sessions.find(used)).not.toBeNull()
  sessions.endExpired()
  clock.nowMs = START_MS + SESSION_IDLE_MS + 1
  expect(sessions.find(unused)).toBeNull()
  for (let atMs = START_MS; atMs <= START_MS + SESSION_MAX_MS; atMs += SESSION_IDLE_MS) {
    clock.nowMs = atMs
    expect([atMs, sessions.find(used) === null]).toEqual([atMs, false])
  }
  clock.nowMs = START_MS + SESSION_MAX_MS + 1
  expect(sessions.find(used)).toBeNull()
})

test('does not lock out a signed-in owner when the disk is full', () => {
  const { sessions, clock, begin, warnings } = openSessions((store) => ({
    ...store,
    touchSession: () => {
      throw new Error('disk full')
    },
  }))
  const token = begin()
  clock.nowMs += 120_000
  expect(sessions.find(token)).not.toBeNull()
  expect(warnings).toHaveLength(1)
})

test('notifies a listener once when a session ends, and not after it unsubscribes', () => {
  const { sessions, begin } = openSessions()
  begin()
  begin()
  const [second, first] = sessions.list().map(({ id }) => id)
  const calls: string[] = []
  sessions.onEnded(first ?? '', () => calls.push('first'))
  const unsubscribe = sessions.onEnded(first ?? '', () => calls.push('unsubscribed'))
  sessions.onEnded(second ?? '', () => calls.push('second'))
  unsubscribe()
  sessions.end([first ?? ''])
  sessions.end([first ?? ''])
  expect(calls).toEqual(['first'])
  expect(sessions.list().map(({ id }) => id)).toEqual([second])
})
