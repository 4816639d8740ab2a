/** G.711 mu-law at 8 kHz, one channel, as the phone network carries it: eight bytes a millisecond. */
export const BYTES_PER_MS = 8
/** The convention of 20 ms a frame. Any length must be accepted; this is what we cut to. */
export const FRAME_BYTES = 160
/** Digital silence in mu-law. */
export const SILENCE_BYTE = 0xff

const PAD = '='.charCodeAt(0)

/** How many bytes a base64 text of whole, padded groups decodes to, without decoding it. */
export function base64Bytes(base64: string): number {
  const { length } = base64
  let padding = 0
  if (base64.charCodeAt(length - 1) === PAD) padding = base64.charCodeAt(length - 2) === PAD ? 2 : 1
  return (length / 4) * 3 - padding
}
