import { onTestFinished } from 'vitest'
import { openStorage, type Storage, type StorageOptions } from '../../src/storage/storage.ts'
import { newId } from './writer.ts'

export type TestStorage = Storage & {
  readonly warnings: { message: string; fields: Record<string, unknown> }[]
}

/** The service's storage with its thread; closed after the test. */
export async function openTestStorage(
  directory: string,
  options: Partial<StorageOptions> = {},
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
  onTestFinished(() => storage.close())
  return { ...storage, warnings }
}
