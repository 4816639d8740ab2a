import { type Codec, muLaw, pcm } from './codec.ts'
import { type Chunk, flushCarry, rechunk } from './rechunk.ts'

/**
 * What a line carries in both directions: audio, or words that the provider hears and speaks. The machine sees
 * only base64, bytes and milliseconds.
 */
export type Medium = {
  readonly isAudio: boolean
  /** What the model's session is told. Words are never heard as audio. */
  readonly codec: Codec
  /** How long one byte is heard. For words, an estimate. */
  readonly msPerByte: number
  /** How far past the last returned mark the caller is assumed to have heard. */
  readonly slackMs: number
  /** Cuts a delta into pieces, each under its own mark. `carry` is put before the next delta. */
  cut(carry: Uint8Array, delta: string): { readonly chunks: readonly Chunk[]; readonly carry: Uint8Array }
  /** The last piece of a reply. */
  flush(carry: Uint8Array): readonly Chunk[]
}

/**
 * How far past the last returned mark the caller is assumed to have heard, because a mark takes time to
 * return. Half a chunk, so the error is even in both directions.
 */
export const HEARD_SLACK_MS = 50

const FRAME_MS = 20

function mediumOf(codec: Codec): Medium {
  const frameBytes = FRAME_MS * codec.bytesPerMs
  return {
    isAudio: true,
    codec,
    msPerByte: 1 / codec.bytesPerMs,
    slackMs: HEARD_SLACK_MS,
    cut: (carry, delta) => rechunk(carry, delta, frameBytes),
    flush: flushCarry,
  }
}

/** Mu-law audio, as a media stream carries it. */
export const audioMedium = mediumOf(muLaw)

/** PCM, as a browser carries it. */
export const browserMedium = mediumOf(pcm)

/** The pace of slow speech. */
export const MS_A_CHARACTER = 65

const NO_CARRY: Uint8Array = new Uint8Array(0)

/** Shared because creating a segmenter takes milliseconds. */
const words = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Words as the machine carries them: two bytes a character, so that bytes and characters keep their ratio. */
export const encodeWords = (text: string): string => Buffer.from(text, 'utf16le').toString('base64')
export const decodeWords = (payload: string): string => Buffer.from(payload, 'base64').toString('utf16le')

/**
 * Words, one a piece with what follows it. An empty piece ends a reply. The line knows which words were heard,
 * so nothing is assumed beyond them.
 */
export const wordsMedium: Medium = {
  isAudio: false,
  codec: muLaw,
  msPerByte: MS_A_CHARACTER / 2,
  slackMs: 0,
  cut(_carry, delta) {
    const pieces: string[] = []
    for (const { segment, isWordLike } of words.segment(decodeWords(delta))) {
      if (isWordLike || pieces.length === 0) pieces.push(segment)
      else pieces.push(pieces.pop() + segment)
    }
    return { chunks: pieces.map(chunkOf), carry: NO_CARRY }
  },
  flush: () => [chunkOf('')],
}

function chunkOf(text: string): Chunk {
  return { payload: encodeWords(text), bytes: text.length * 2 }
}
