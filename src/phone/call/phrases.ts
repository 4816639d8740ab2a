import { readFile } from 'node:fs/promises'
import { createResampler } from '../spoken/resample.ts'
import type { PhraseName } from './call-state.ts'
import { muLaw, pcm } from './codec.ts'

export type Phrases = Readonly<Record<PhraseName, string>>

/** Reads the recorded phrases as base64 mu-law. Rejects if one is missing. */
export async function loadPhrases(): Promise<Phrases> {
  const read = (file: string) => readFile(new URL(`./phrases/${file}.ulaw`, import.meta.url), 'base64')
  const [reconnecting, trouble, timeUp, allowance] = await Promise.all([
    read('reconnecting'),
    read('trouble'),
    read('time-up'),
    read('allowance'),
  ])
  return { reconnecting, trouble, time_up: timeUp, allowance }
}

/** The same for a browser. Takes 50 ms. */
export function browserPhrases({ reconnecting, trouble, time_up, allowance }: Phrases): Phrases {
  const convert = (phrase: string) => {
    const resampler = createResampler(muLaw.rate, pcm.rate)
    const samples = Float32Array.from(muLaw.decode(Buffer.from(phrase, 'base64')))
    return Buffer.concat([resampler.add(samples), resampler.end()].map(pcm.encode)).toString('base64')
  }
  return {
    reconnecting: convert(reconnecting),
    trouble: convert(trouble),
    time_up: convert(time_up),
    allowance: convert(allowance),
  }
}
