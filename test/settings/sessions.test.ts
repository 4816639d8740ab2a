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
    const { token, session } = sessions.draw('Browser')
    sessions.save(session)
    return token
  }
  return { sessions, clock, warnings, begin }
}

test('a session that began while the clock was ten years ahead ends in time once it is right again', () => {
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

test('a disk that takes nothing more keeps nobody out who is signed in', () => {
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

test('whoever waits for the end of a session is told once, and not after taking the wish back', () => {
  const { sessions, begin } = openSessions()
  begin()
  begin()
  const [second, first] = sessions.list().map(({ id }) => id)
  const told: string[] = []
  sessions.onEnded(first ?? '', () => told.push('first'))
  const forget = sessions.onEnded(first ?? '', () => told.push('forgotten'))
  sessions.onEnded(second ?? '', () => told.push('second'))
  forget()
  sessions.end([first ?? ''])
  sessions.end([first ?? ''])
  expect(told).toEqual(['first'])
  expect(sessions.list().map(({ id }) => id)).toEqual([second])
})
