/** G.711 mu-law at 8 kHz, one channel, as the phone network carries it: eight bytes a millisecond. */
export const BYTES_PER_MS = 8
/** The convention of 20 ms a frame. Any length must be accepted; this is what we cut to. */
export const FRAME_BYTES = 160
/** Digital silence in mu-law. */
export const SILENCE_BYTE = 0xff

/** How many bytes a base64 text of whole, padded groups decodes to, without decoding it. */
export function base64Bytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (base64.length / 4) * 3 - padding
}
