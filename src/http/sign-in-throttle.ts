import { isIPv6 } from 'node:net'
import type { Attempts } from '../settings/owner-account.ts'

/** Failures from one client after which it has to wait. */
export const MAX_FAILURES = 10
/** How long failures count, and a client that used them up has to wait. */
export const FAILURE_WINDOW_MS = 15 * 60_000
/** Clients that are remembered; beyond that the longest silent is forgotten. */
const MAX_CLIENTS = 10_000

/** Slows down the guessing of passwords, for each client by itself. */
export type SignInThrottle = {
  /** `client` is an address, or any other name of who is guessing. */
  attemptsOf(client: string): Attempts
  /** Until the client may try again; 0 where it may now. */
  waitMs(client: string): number
}

/** `monotonicMs` is a clock that nobody sets, so that moving the wall clock frees or locks nobody. */
export function createSignInThrottle(monotonicMs: () => number): SignInThrottle {
  // In the order of the last failure, oldest first.
  const failures = new Map<string, { count: number; lastMs: number }>()

  function counted(key: string): { count: number; lastMs: number } {
    const found = failures.get(key)
    if (found && monotonicMs() - found.lastMs < FAILURE_WINDOW_MS) return found
    return { count: 0, lastMs: 0 }
  }

  function waitMs(client: string): number {
    const { count, lastMs } = counted(networkOf(client))
    return count < MAX_FAILURES ? 0 : Math.max(0, lastMs + FAILURE_WINDOW_MS - monotonicMs())
  }

  return {
    waitMs,
    attemptsOf(client) {
      const key = networkOf(client)
      return {
        mayTry: () => waitMs(client) === 0,
        failed() {
          const count = counted(key).count + 1
          failures.delete(key)
          failures.set(key, { count, lastMs: monotonicMs() })
          if (failures.size > MAX_CLIENTS) failures.delete(failures.keys().next().value ?? '')
        },
        succeeded: () => void failures.delete(key),
      }
    },
  }
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
