import { isIP, isIPv6 } from 'node:net'
import type { Attempts } from '../settings/owner-account.ts'
import { Refusal } from './problem.ts'

/** Failures from one client after which it has to wait. */
export const MAX_FAILURES = 10
/** How long failures count, and a client that used them up has to wait. */
export const FAILURE_WINDOW_MS = 15 * 60_000
/** Failures from all unknown addresses together after which they have to wait: addresses are cheap. */
export const MAX_FAILURES_OF_ALL = 100
/** Networks that are remembered for having signed in; beyond that the first is forgotten. */
const MAX_KNOWN = 100
/** This machine's own: through an SSH tunnel the owner comes from there. */
const OWN_ADDRESSES = new Set(['127.0.0.1', '::1'])
/** Clients that are remembered; beyond that the longest silent is forgotten. */
const MAX_CLIENTS = 10_000

/**
 * Slows down the guessing of passwords, for each client by itself and for all unknown addresses together. Known is an
 * address that signed in since the start, and this machine: so the owner gets in while others guess.
 */
export type SignInThrottle = {
  /** `client` is an address, or any other name of who is guessing, like a session: names have no limit in common. */
  attemptsOf(client: string): Attempts
  /** Until the client may try again; 0 where it may now. */
  waitMs(client: string): number
}

/** `monotonicMs` is a clock that nobody sets, so that moving the wall clock frees or locks nobody. */
export function createSignInThrottle(monotonicMs: () => number): SignInThrottle {
  // In the order of the last failure, oldest first.
  const failures = new Map<string, { count: number; lastMs: number }>()
  const known = new Set<string>()
  /** When the last failures of unknown addresses were, oldest first; at most as many as they may have. */
  const unknownFailuresMs: number[] = []

  function counted(key: string): { count: number; lastMs: number } {
    const found = failures.get(key)
    if (found && monotonicMs() - found.lastMs < FAILURE_WINDOW_MS) return found
    return { count: 0, lastMs: 0 }
  }

  const isUnknown = (client: string) =>
    isIP(client) !== 0 && !OWN_ADDRESSES.has(client) && !known.has(networkOf(client))

  function waitMs(client: string): number {
    const { count, lastMs } = counted(networkOf(client))
    const ownMs = count < MAX_FAILURES ? 0 : lastMs + FAILURE_WINDOW_MS - monotonicMs()
    const [oldestMs = 0] = unknownFailuresMs
    const isFull = unknownFailuresMs.length >= MAX_FAILURES_OF_ALL && isUnknown(client)
    const commonMs = isFull ? oldestMs + FAILURE_WINDOW_MS - monotonicMs() : 0
    return Math.max(0, ownMs, commonMs)
  }

  return {
    waitMs,
    attemptsOf(client) {
      const key = networkOf(client)
      let failedMs: number | null = null
      return {
        mayTry: () => waitMs(client) === 0,
        failed() {
          const count = counted(key).count + 1
          failures.delete(key)
          failures.set(key, { count, lastMs: monotonicMs() })
          if (failures.size > MAX_CLIENTS) failures.delete(failures.keys().next().value ?? '')
          if (!isUnknown(client)) return
          failedMs = monotonicMs()
          unknownFailuresMs.push(failedMs)
          if (unknownFailuresMs.length > MAX_FAILURES_OF_ALL) unknownFailuresMs.shift()
        },
        succeeded() {
          failures.delete(key)
          if (failedMs !== null) takeBack(unknownFailuresMs, failedMs)
          if (!isUnknown(client)) return
          known.add(key)
          if (known.size > MAX_KNOWN) known.delete(known.values().next().value ?? '')
        },
      }
    },
  }
}

/** Tells a client to come back later. */
export function tooManyAttempts(waitMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new Refusal(429, 'too_many_attempts', 'Too many failed attempts. Try again later.', {
    headers: { 'retry-after': String(seconds) },
  })
}

function takeBack(times: number[], timeMs: number): void {
  const at = times.lastIndexOf(timeMs)
  if (at >= 0) times.splice(at, 1)
}

/** Whoever has one IPv6 address has its whole /64, so that is one client. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const tailGroups = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - tailGroups.length)
  return [...groups, ...Array<string>(zeros).fill('0'), ...tailGroups]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':')
}
