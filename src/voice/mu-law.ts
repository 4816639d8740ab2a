/** G.711 mu-law at 8 kHz, one channel, as the phone network carries it: eight bytes a millisecond. */
export const BYTES_PER_MS = 8
/** The convention of 20 ms a frame. Any length must be accepted; this is what we cut to. */
export const FRAME_BYTES = 160
/** Digital silence in mu-law. */
export const SILENCE_BYTE = 0xff
