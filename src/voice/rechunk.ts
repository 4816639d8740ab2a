import { base64Bytes, FRAME_BYTES } from './mu-law.ts'

/**
 * The most audio that goes out under one mark: 100 ms. A mark comes back only when everything before it was
 * played, so this is how exactly an interruption knows what was heard. Odd or tiny pieces stutter on the way.
 */
export const CHUNK_BYTES = 5 * FRAME_BYTES

/** A piece of audio for the provider: base64, and how many bytes it stands for. */
export type Chunk = { readonly payload: string; readonly bytes: number }

const NOTHING: Uint8Array = new Uint8Array(0)

/**
 * Cuts a delta into whole 20 ms frames, at most CHUNK_BYTES a piece. What is left over (under one frame) comes
 * back as `carry`, to be put before the next delta; nothing waits longer than that. A delta that already fits
 * passes through as the very same text.
 */
export function rechunk(
  carry: Uint8Array,
  delta: string,
): { readonly chunks: readonly Chunk[]; readonly carry: Uint8Array } {
  const deltaBytes = base64Bytes(delta)
  if (carry.length === 0 && deltaBytes <= CHUNK_BYTES && deltaBytes % FRAME_BYTES === 0) {
    return { chunks: deltaBytes === 0 ? [] : [{ payload: delta, bytes: deltaBytes }], carry }
  }
  const decoded = Buffer.from(delta, 'base64')
  const audio = carry.length === 0 ? decoded : Buffer.concat([carry, decoded])
  const whole = audio.length - (audio.length % FRAME_BYTES)
  const chunks: Chunk[] = []
  for (let start = 0; start < whole; start += CHUNK_BYTES) {
    const end = Math.min(start + CHUNK_BYTES, whole)
    chunks.push({ payload: audio.toString('base64', start, end), bytes: end - start })
  }
  return { chunks, carry: whole === audio.length ? NOTHING : Uint8Array.from(audio.subarray(whole)) }
}

/** The rest, sent as it is when nothing more follows. */
export function flushCarry(carry: Uint8Array): readonly Chunk[] {
  return carry.length === 0 ? [] : [{ payload: Buffer.from(carry).toString('base64'), bytes: carry.length }]
}
