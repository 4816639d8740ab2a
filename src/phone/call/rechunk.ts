/**
 * The most audio under one mark: 100 ms. This is the precision with which an interruption knows what was
 * heard. Much smaller chunks stutter.
 */
const CHUNK_FRAMES = 5

/** Base64 audio for the line, and its decoded length. */
export type Chunk = { readonly payload: string; readonly bytes: number }

/**
 * Cuts a delta into chunks of whole 20 ms frames, each at most 100 ms. The incomplete last frame is returned as
 * `carry`, to be put before the next delta.
 */
export function rechunk(
  carry: Uint8Array,
  delta: string,
  frameBytes: number,
): { readonly chunks: readonly Chunk[]; readonly carry: Uint8Array } {
  const audio = Buffer.concat([carry, Buffer.from(delta, 'base64')])
  const whole = audio.length - (audio.length % frameBytes)
  const chunks: Chunk[] = []
  for (let start = 0; start < whole; start += CHUNK_FRAMES * frameBytes) {
    const end = Math.min(start + CHUNK_FRAMES * frameBytes, whole)
    chunks.push({ payload: audio.toString('base64', start, end), bytes: end - start })
  }
  return { chunks, carry: audio.subarray(whole) }
}

/** The last piece of a segment, which may be shorter than a frame. */
export function flushCarry(carry: Uint8Array): readonly Chunk[] {
  return carry.length === 0 ? [] : [{ payload: Buffer.from(carry).toString('base64'), bytes: carry.length }]
}
