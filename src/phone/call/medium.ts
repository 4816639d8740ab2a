import { BYTES_PER_MS } from './mu-law.ts'
import { type Chunk, flushCarry, rechunk } from './rechunk.ts'

/**
 * What a line carries in both directions: audio, or words that the provider hears and speaks. The machine sees
 * only base64, bytes and milliseconds.
 */
export type Medium = {
  readonly isAudio: boolean
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

/** Mu-law audio, as a media stream carries it. */
export const audioMedium: Medium = {
  isAudio: true,
  msPerByte: 1 / BYTES_PER_MS,
  slackMs: HEARD_SLACK_MS,
  cut: rechunk,
  flush: flushCarry,
}

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
