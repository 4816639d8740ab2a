import { afterAwake } from '../../src/clock/awake.ts'

/**
 * What a promise comes to. Rejects where that takes more than `ms` in which this process was running: what holds it up
 * holds up both sides, the service under test and its client.
 */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const cancel = afterAwake(ms, () => late.reject(new Error(`it did not come within ${ms} ms`)))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    cancel()
  }
}
