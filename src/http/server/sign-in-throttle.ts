import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { msg } from '../../language/msg.ts'
import type { Attempts, OwnerAccount } from '../../settings/owner-account.ts'
import { deviceOf, userAgentOf } from './device-cookie.ts'
import type { HttpContext } from './env.ts'
import type { IntrusionCounter } from './intrusion-counter.ts'
import { Refusal } from './problem.ts'

/** Failures from one client before it must wait. */
export const MAX_FAILURES = 10
/** How long failures count, and how long a client must wait after too many. */
export const FAILURE_WINDOW_MS = 15 * 60_000
/** The same for all unknown addresses together, because an attacker can use many. */
export const MAX_FAILURES_OF_ALL = 100
/** Known networks that are remembered; beyond that, the oldest is forgotten. */
const MAX_KNOWN = 100
/** This machine. Through an SSH tunnel, the owner connects from it. */
const OWN_ADDRESSES = new Set(['127.0.0.1', '::1'])
/** Clients that are remembered; beyond that, the one that last failed the longest ago is forgotten. */
const MAX_CLIENTS = 10_000

export type SignInThrottle = ReturnType<typeof createSignInThrottle>

/**
 * Slows down password guessing, per client and for all unknown addresses together. This machine, and addresses that have
 * signed in since the start, are known: the owner can still sign in while others guess. Uses a monotonic clock, so that
 * setting the wall clock neither frees nor locks out anyone.
 */
export function createSignInThrottle(monotonicMs: () => number) {
  // Ordered by last failure, oldest first.
  const failures = new Map<string, { count: number; lastMs: number }>()
  const known = new Set<string>()
  /** Times of the latest failures of unknown addresses, oldest first; at most MAX_FAILURES_OF_ALL. */
  const unknownFailuresMs: number[] = []

  function counted(key: string): { count: number; lastMs: number } {
    const found = failures.get(key)
    if (found && monotonicMs() - found.lastMs < FAILURE_WINDOW_MS) return found
    return { count: 0, lastMs: 0 }
  }

  const isUnknown = (client: string) =>
    isIP(client) !== 0 && !OWN_ADDRESSES.has(client) && !known.has(networkOf(client))

  /** How long the client must wait; 0 if it may try now. */
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
    /**
     * `client` is an address or another name, such as a session or a known browser. The common limit covers only
     * addresses. A success makes `address` known.
     */
    attemptsOf(client: string, address = client): Attempts {
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
          if (failedMs !== null) removeTime(unknownFailuresMs, failedMs)
          if (!isUnknown(address)) return
          known.add(networkOf(address))
          if (known.size > MAX_KNOWN) known.delete(known.values().next().value ?? '')
        },
      }
    },
  }
}

/** The refusal for a client that must wait. */
export function tooManyAttempts(waitMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new Refusal(429, 'too_many_attempts', msg`Too many failed attempts. Try again later.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** As `tooManyAttempts`, and counts the attempt. */
export function throttled(
  deps: { readonly throttle: SignInThrottle; readonly intrusions: Pick<IntrusionCounter, 'count'> },
  client: string,
): Refusal {
  deps.intrusions.count('sign_in_throttled')
  return tooManyAttempts(deps.throttle.waitMs(client))
}

/**
 * Whose attempts count together: those of a session, or of a browser that has signed in before. So guessing strangers do
 * not lock out the owner, and a thief of the session can neither guess without limit nor lock out the owner's address.
 */
export function guesserOf(c: HttpContext, account: Pick<OwnerAccount, 'knows'>): string {
  const session = c.get('session')
  if (session !== null) return `session ${session.id}`
  const device = deviceOf(c)
  return account.knows(device, userAgentOf(c)) ? `device ${device}` : c.get('caller').address
}

function removeTime(times: number[], timeMs: number): void {
  const at = times.lastIndexOf(timeMs)
  if (at >= 0) times.splice(at, 1)
}

/** A client can use every address in its IPv6 /64, so a /64 counts as one client. */
function networkOf(address: string): string {
  const [withoutZone = ''] = address.split('%')
  if (!ipaddr.IPv6.isValid(withoutZone)) return address
  return ipaddr.IPv6.parse(withoutZone).parts.slice(0, 4).join(':')
}
