/** G.711 mu-law at 8 kHz, mono, as the phone network carries it. */
export const BYTES_PER_MS = 8
/** The usual frame of 20 ms. Outgoing audio is cut to it; incoming audio may have any length. */
export const FRAME_BYTES = 160
/** Digital silence in mu-law. */
export const SILENCE_BYTE = 0xff
