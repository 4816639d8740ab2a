import { isWithin } from '../lib/waits.ts'

/** Far longer than an index needs for a few turns. After a rebuild of a long ledger it needs minutes. */
const WAIT_MS = 1000

/**
 * Waits up to a second for the search indexes to catch up. Resolves to whether they did. If not, a lookup
 * answers from what they have.
 */
export function caughtUpWithin(catchUp: () => Promise<void>): Promise<boolean> {
  return isWithin(WAIT_MS, catchUp())
}
