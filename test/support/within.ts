import { afterAwake } from '../../src/clock/awake.ts'

/**
 * The result of a promise. Rejects if it takes more than `ms` of this process's running time; pauses of the
 * process do not count, because they hold up both the service under test and its client.
 */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const cancel = afterAwake(ms, () => late.reject(new Error(`no result within ${ms} ms`)))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    cancel()
  }
}
