/** Many times what an index takes that is a few turns behind. Rebuilt from a long ledger, it takes minutes. */
const WAIT_MS = 1000

/**
 * Waits for the search indexes to catch up, for `waitMs` at most. Resolves to whether they did: where not, a lookup
 * is answered from what they have so far.
 */
export async function caughtUpWithin(catchUp: () => Promise<void>, waitMs = WAIT_MS): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), waitMs)
  try {
    return await Promise.race([catchUp().then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
