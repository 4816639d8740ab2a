import { setImmediate as nextTurn } from 'node:timers/promises'
import { voiced } from '../../text/plain.ts'
import type { Codec } from '../call/codec.ts'
import type { Mouth } from './ports.ts'
import { createResampler } from './resample.ts'
import { createWavReader } from './wav.ts'

/** The work for one piece takes far less time than a frame of audio. */
const PIECE_MS = 200
/** A quarter of a second of 24 kHz audio is converted at once. */
const CHUNK_BYTES = 12_000

/** Speaks with a speech model that streams WAV, in the format of the line. */
export function createSpeechMouth(
  synthesise: (text: string, signal: AbortSignal) => AsyncIterable<Uint8Array>,
  codec: Codec,
): Mouth {
  const pieceBytes = PIECE_MS * codec.bytesPerMs
  return {
    async *speak(sentence, signal) {
      const text = voiced(sentence).trim()
      // Punctuation alone has no sound, and some servers refuse it.
      if (!/[\p{L}\p{N}]/u.test(text)) return
      const wav = createWavReader()
      let resampler: ReturnType<typeof createResampler> | null = null
      let held = Buffer.alloc(0)
      for await (const chunk of synthesise(text, signal)) {
        for (let at = 0; at < chunk.length; at += CHUNK_BYTES) {
          const read = wav.add(chunk.subarray(at, at + CHUNK_BYTES))
          if (read === null) continue
          resampler ??= createResampler(read.rate, codec.rate)
          held = Buffer.concat([held, codec.encode(resampler.add(read.samples))])
          for (; held.length >= pieceBytes; held = held.subarray(pieceBytes))
            yield held.toString('base64', 0, pieceBytes)
          // Lets the caller's audio pass.
          await nextTurn()
          signal.throwIfAborted()
        }
      }
      if (resampler) held = Buffer.concat([held, codec.encode(resampler.end())])
      if (held.length > 0) yield held.toString('base64')
    },
  }
}
