import { createHash } from 'node:crypto'

export const EMBEDDING_DIMENSIONS = 64

/** A unit vector that is close for texts with common words: each word is hashed to one dimension. */
export function embedText(text: string): number[] {
  const vector = new Array<number>(EMBEDDING_DIMENSIONS).fill(0)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    const digest = createHash('sha256').update(word).digest()
    const dimension = digest.readUInt16LE(0) % EMBEDDING_DIMENSIONS
    vector[dimension] = (vector[dimension] ?? 0) + 1
  }
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
