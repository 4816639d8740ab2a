import { afterAwake } from '../../src/lib/waits.ts'

/** The result of a promise. Rejects after `ms`, not counting pauses of this process. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const cancel = afterAwake(ms, () => late.reject(new Error(`no result within ${ms} ms`)))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    cancel()
  }
}
