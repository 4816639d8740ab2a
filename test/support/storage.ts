import { onTestFinished } from 'vitest'
import { openStorage, type Storage, type StorageOptions } from '../../src/storage/storage.ts'
import { newId } from './writer.ts'

export type TestStorage = Storage & {
  readonly warnings: { message: string; fields: Record<string, unknown> }[]
}

/** The service's storage with its thread; closed after the test, or when `onEnd` runs what it was given. */
export async function openTestStorage(
  directory: string,
  options: Partial<StorageOptions> = {},
  onEnd: (cleanup: () => Promise<void>) => void = onTestFinished,
): Promise<TestStorage> {
  const warnings: TestStorage['warnings'] = []
  const storage = await openStorage({
    directory,
    nowMs: Date.now,
    newId,
    onWarning: (message, fields) => warnings.push({ message, fields }),
    onFatal: (error) => {
      throw error
    },
    ...options,
  })
  onEnd(() => storage.close())
  return { ...storage, warnings }
}
