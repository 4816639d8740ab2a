import type { SpeechModel, Use } from '../../model/port.ts'
import { pcm } from '../call/codec.ts'
import { createSpeechMouth } from './mouth.ts'
import { createSentences } from './sentences.ts'
import { streamedWavHeader } from './wav.ts'

/** Reads a text aloud, sentence by sentence: the bytes of a WAV file, as they are made. Throws ModelError. */
export async function* readAloud(
  text: string,
  { speech, use, signal }: { readonly speech: SpeechModel; readonly use: Use; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const mouth = createSpeechMouth((words, ended) => speech.stream(words, ended, use), pcm)
  const sentences = createSentences()
  let hasBegun = false
  for (const sentence of [...sentences.add(text), ...sentences.end()]) {
    for await (const piece of mouth.speak(sentence, signal)) {
      if (!hasBegun) yield streamedWavHeader(pcm.rate)
      hasBegun = true
      yield new Uint8Array(Buffer.from(piece, 'base64'))
    }
  }
}
