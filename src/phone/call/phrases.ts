import { readFile } from 'node:fs/promises'
import type { PhraseName } from './call-state.ts'

/** Reads the recorded phrases as base64 mu-law. Rejects if one is missing. */
export async function loadPhrases(): Promise<Readonly<Record<PhraseName, string>>> {
  const read = (file: string) => readFile(new URL(`./phrases/${file}.ulaw`, import.meta.url), 'base64')
  const [reconnecting, trouble, timeUp, allowance] = await Promise.all([
    read('reconnecting'),
    read('trouble'),
    read('time-up'),
    read('allowance'),
  ])
  return { reconnecting, trouble, time_up: timeUp, allowance }
}
