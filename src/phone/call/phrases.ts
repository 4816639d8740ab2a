import { readFile } from 'node:fs/promises'
import { type Language, translateTo } from '../../language/languages.ts'
import { createResampler } from '../spoken/resample.ts'
import type { CallOptions, Phrase, PhraseName } from './call-state.ts'
import { muLaw, pcm } from './codec.ts'
import { encodeWords } from './medium.ts'
import { phraseTexts } from './prompts.ts'

export type Phrases = CallOptions['phrases']

/** Reads the recorded phrases as base64 mu-law. Rejects if one is missing. */
export async function loadPhrases(language: 'en' | 'de' = 'en'): Promise<Phrases> {
  const read = (name: PhraseName) =>
    readFile(new URL(`./phrases/${language}/${name}.ulaw`, import.meta.url), 'base64')
  const names = Object.keys(phraseTexts) as PhraseName[]
  const media = new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)))
  return phrasesOf(language, (name) => media.get(name) ?? '')
}

/** The same for a browser. Takes 50 ms. */
export function browserPhrases(language: Language, phrases: Phrases): Phrases {
  return phrasesOf(language, (name) => {
    const resampler = createResampler(muLaw.rate, pcm.rate)
    const samples = Float32Array.from(muLaw.decode(Buffer.from(phrases[name].media, 'base64')))
    return Buffer.concat([resampler.add(samples), resampler.end()].map(pcm.encode)).toString('base64')
  })
}

/** The same for a line that carries words. */
export const wordPhrases = (language: Language): Phrases =>
  phrasesOf(language, (_name, text) => encodeWords(text))

function phrasesOf(language: Language, mediaOf: (name: PhraseName, text: string) => string): Phrases {
  const phrase = (name: PhraseName): Phrase => {
    const text = translateTo(language, phraseTexts[name])
    return { text, media: mediaOf(name, text) }
  }
  return {
    reconnecting: phrase('reconnecting'),
    trouble: phrase('trouble'),
    time_up: phrase('time_up'),
    allowance: phrase('allowance'),
    halted: phrase('halted'),
  }
}
