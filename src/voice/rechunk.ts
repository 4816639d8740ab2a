import { FRAME_BYTES } from './mu-law.ts'

/**
 * The most audio that goes out under one mark: 100 ms. A mark comes back only when everything before it was
 * played, so this is how exactly an interruption knows what was heard. Odd or tiny pieces stutter on the way.
 */
export const CHUNK_BYTES = 5 * FRAME_BYTES

/** A piece of audio for the provider: base64, and how many bytes it stands for. */
export type Chunk = { readonly payload: string; readonly bytes: number }

/**
 * Cuts a delta into whole 20 ms frames, at most CHUNK_BYTES a piece. Less than a frame may be left over: it comes
 * back as `carry` and goes before the next delta.
 */
export function rechunk(
  carry: Uint8Array,
  delta: string,
): { readonly chunks: readonly Chunk[]; readonly carry: Uint8Array } {
  const audio = Buffer.concat([carry, Buffer.from(delta, 'base64')])
  const whole = audio.length - (audio.length % FRAME_BYTES)
  const chunks: Chunk[] = []
  for (let start = 0; start < whole; start += CHUNK_BYTES) {
    const end = Math.min(start + CHUNK_BYTES, whole)
    chunks.push({ payload: audio.toString('base64', start, end), bytes: end - start })
  }
  return { chunks, carry: audio.subarray(whole) }
}

/** The last piece of a segment, which may be shorter than a frame. */
export function flushCarry(carry: Uint8Array): readonly Chunk[] {
  return carry.length === 0 ? [] : [{ payload: Buffer.from(carry).toString('base64'), bytes: carry.length }]
}
