import { decodeMuLaw, encodeMuLaw } from './mu-law.ts'

/** How the audio of a line is written, mono. */
export type Codec = {
  /** As the realtime service names it. */
  readonly format: { readonly type: 'audio/pcmu' } | { readonly type: 'audio/pcm'; readonly rate: 24_000 }
  /** Samples a second. */
  readonly rate: number
  readonly bytesPerMs: number
  /** A byte of digital silence. */
  readonly silence: number
  decode(audio: Uint8Array): Int16Array
  /** Takes samples from -32768 to 32767. */
  encode(samples: Float32Array): Buffer
}

/** What the phone network carries. */
export const muLaw: Codec = {
  format: { type: 'audio/pcmu' },
  rate: 8_000,
  bytesPerMs: 8,
  silence: 0xff,
  decode: decodeMuLaw,
  encode: encodeMuLaw,
}

/** 16-bit PCM, little-endian, as browsers and the realtime service speak it. */
export const pcm: Codec = {
  format: { type: 'audio/pcm', rate: 24_000 },
  rate: 24_000,
  bytesPerMs: 48,
  silence: 0,
  // Node.js runs on little-endian machines only. A copy, because the bytes may not be aligned.
  decode: (audio) => new Int16Array(Uint8Array.from(audio).buffer, 0, audio.length >> 1),
  encode(samples) {
    const audio = Int16Array.from(samples, (sample) =>
      Math.max(-32_768, Math.min(32_767, Math.round(sample))),
    )
    return Buffer.from(audio.buffer)
  },
}
