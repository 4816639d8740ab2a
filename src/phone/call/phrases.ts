import { readFile } from 'node:fs/promises'
import { createResampler } from '../spoken/resample.ts'
import type { CallOptions, Phrase, PhraseName } from './call-state.ts'
import { muLaw, pcm } from './codec.ts'
import { encodeWords } from './medium.ts'
import { phraseTexts } from './prompts.ts'

export type Phrases = CallOptions['phrases']

/** Reads the recorded phrases as base64 mu-law. Rejects if one is missing. */
export async function loadPhrases(): Promise<Phrases> {
  const read = (file: string) => readFile(new URL(`./phrases/${file}.ulaw`, import.meta.url), 'base64')
  const [reconnecting, trouble, time_up, allowance] = await Promise.all([
    read('reconnecting'),
    read('trouble'),
    read('time-up'),
    read('allowance'),
  ])
  return phrasesOf((name) => ({ reconnecting, trouble, time_up, allowance })[name])
}

/** The same for a browser. Takes 50 ms. */
export function browserPhrases(phrases: Phrases): Phrases {
  return phrasesOf((name) => {
    const resampler = createResampler(muLaw.rate, pcm.rate)
    const samples = Float32Array.from(muLaw.decode(Buffer.from(phrases[name].media, 'base64')))
    return Buffer.concat([resampler.add(samples), resampler.end()].map(pcm.encode)).toString('base64')
  })
}

/** The same for a line that carries words. */
export const wordPhrases = phrasesOf((name) => encodeWords(phraseTexts[name]))

function phrasesOf(mediaOf: (name: PhraseName) => string): Phrases {
  const phrase = (name: PhraseName): Phrase => ({ text: phraseTexts[name], media: mediaOf(name) })
  return {
    reconnecting: phrase('reconnecting'),
    trouble: phrase('trouble'),
    time_up: phrase('time_up'),
    allowance: phrase('allowance'),
  }
}
