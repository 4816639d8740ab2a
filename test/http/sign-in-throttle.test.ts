import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createSignInThrottle,
  FAILURE_WINDOW_MS,
  MAX_FAILURES,
  MAX_FAILURES_OF_ALL,
} from '../../src/http/server/sign-in-throttle.ts'

function failures(throttle: ReturnType<typeof createSignInThrottle>, client: string, times: number) {
  for (let round = 0; round < times; round += 1) throttle.attemptsOf(client).failed()
}

test('counts an IPv6 /64 as one client', () => {
  const throttle = createSignInThrottle(() => 0)
  for (let host = 0; host < MAX_FAILURES; host += 1)
    failures(throttle, `2001:db8:1:2::${host.toString(16)}`, 1)
  expect(throttle.attemptsOf('2001:0DB8:0001:0002:ffff:ffff:ffff:ffff').mayTry()).toBe(false)
  expect(throttle.attemptsOf('2001:db8:1:3::1').mayTry()).toBe(true)
  expect(throttle.attemptsOf('::1').mayTry()).toBe(true)
})

test('counts a /64 as one client even if some addresses abbreviate its zeros', () => {
  for (const [one, other, foreign] of [
    ['2001::2:a:b:c:d', '2001:0:0:2::1', '2001:0:0:3::1'],
    ['::2:a:b:c:d', '0:0:0:2::1', '::1'],
    ['2001:db8::', '2001:db8:0:0:1:2:3:4', '2001:db8:1::'],
  ] as const) {
    const throttle = createSignInThrottle(() => 0)
    failures(throttle, one, MAX_FAILURES)
    expect([other, throttle.waitMs(other)]).toEqual([other, FAILURE_WINDOW_MS])
    expect([foreign, throttle.waitMs(foreign)]).toEqual([foreign, 0])
  }
})

test('counts the wait from the last failure', () => {
  let nowMs = 0
  const throttle = createSignInThrottle(() => nowMs)
  failures(throttle, 'a', MAX_FAILURES - 1)
  nowMs = 1_000
  failures(throttle, 'a', 1)
  expect(throttle.waitMs('a')).toBe(FAILURE_WINDOW_MS)
  nowMs = FAILURE_WINDOW_MS
  expect(throttle.waitMs('a')).toBe(1_000)
})

test('forgets the oldest of a flood of addresses and stays bounded', () => {
  const throttle = createSignInThrottle(() => 0)
  failures(throttle, 'first', MAX_FAILURES)
  failures(throttle, 'second', MAX_FAILURES)
  for (let client = 0; client < 9_999; client += 1) failures(throttle, `client ${client}`, 1)
  expect(throttle.waitMs('first')).toBe(0)
  expect(throttle.waitMs('second')).toBe(FAILURE_WINDOW_MS)
})

test('allows no client more than ten wrong guesses per window, whatever the others do', () => {
  const step = fc.record({ client: fc.constantFrom('a', 'b', 'c'), afterMs: fc.nat(FAILURE_WINDOW_MS / 4) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let nowMs = 0
      const throttle = createSignInThrottle(() => nowMs)
      const guesses: { client: string; atMs: number }[] = []
      for (const { client, afterMs } of steps) {
        nowMs += afterMs
        const attempts = throttle.attemptsOf(client)
        if (!attempts.mayTry()) continue
        attempts.failed()
        guesses.push({ client, atMs: nowMs })
        const recent = guesses.filter(
          (guess) => guess.client === client && nowMs - guess.atMs < FAILURE_WINDOW_MS,
        )
        expect(recent.length).toBeLessThanOrEqual(MAX_FAILURES)
      }
    }),
  )
})

test('allows unknown addresses a hundred guesses together in any fifteen minutes', () => {
  let nowMs = 0
  const throttle = createSignInThrottle(() => nowMs)
  for (let index = 0; index < MAX_FAILURES_OF_ALL; index += 1) {
    nowMs = index * 1_000
    failures(throttle, `2001:db8:${index.toString(16)}::1`, 1)
  }
  expect(throttle.waitMs('203.0.113.7')).toBe(FAILURE_WINDOW_MS - nowMs)
  nowMs = FAILURE_WINDOW_MS
  expect(throttle.attemptsOf('203.0.113.7').mayTry()).toBe(true)
  failures(throttle, '203.0.113.7', 1)
  expect(throttle.waitMs('203.0.113.8')).toBe(1_000)
})

test('exempts sessions, this machine and addresses that signed in before from the common limit', () => {
  const throttle = createSignInThrottle(() => 0)
  const attempts = throttle.attemptsOf('198.51.100.4')
  attempts.failed()
  attempts.succeeded()
  failures(throttle, '203.0.113.1', 1)
  for (let index = 1; index < MAX_FAILURES_OF_ALL; index += 1) failures(throttle, `203.0.113.${index}`, 1)
  expect(throttle.attemptsOf('203.0.113.200').mayTry()).toBe(false)
  for (const client of ['198.51.100.4', '127.0.0.1', '::1', 'session 1'])
    expect([client, throttle.attemptsOf(client).mayTry()]).toEqual([client, true])
  failures(throttle, '198.51.100.4', MAX_FAILURES)
  expect(throttle.attemptsOf('198.51.100.4').mayTry()).toBe(false)
})
