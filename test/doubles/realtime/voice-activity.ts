const FRAME_BYTES = 160
const FRAME_MS = 20
/** Root mean square of 16-bit samples at which a frame counts as speech. */
const SPEECH_RMS = 700
/** Consecutive frames that distinguish speech from a click. */
const ONSET_FRAMES = 3

/** G.711: the linear 16-bit sample of a mu-law byte. */
export function linear(byte: number): number {
  const value = ~byte & 0xff
  const magnitude = (((value & 0x0f) << 3) + 0x84) << ((value & 0x70) >> 4)
  return value & 0x80 ? 0x84 - magnitude : magnitude - 0x84
}

export type Activity = { readonly type: 'started' | 'stopped'; readonly atMs: number }

/**
 * Detects voice activity by energy. It measures time in audio, not by the clock, so the result does not
 * depend on the feeding speed. `atMs` counts from the first byte.
 */
export function createVoiceActivity(options: { silenceMs: number; paddingMs: number }) {
  let rest = Buffer.alloc(0)
  let atMs = 0
  let speaking = false
  let loudFrames = 0
  let quietMs = 0

  return {
    feed(audio: Buffer): Activity[] {
      const events: Activity[] = []
      const data = Buffer.concat([rest, audio])
      let offset = 0
      for (; offset + FRAME_BYTES <= data.length; offset += FRAME_BYTES) {
        const loud = rms(data.subarray(offset, offset + FRAME_BYTES)) >= SPEECH_RMS
        atMs += FRAME_MS
        loudFrames = loud ? loudFrames + 1 : 0
        quietMs = loud ? 0 : quietMs + FRAME_MS
        if (!speaking && loudFrames >= ONSET_FRAMES) {
          speaking = true
          events.push({
            type: 'started',
            atMs: Math.max(0, atMs - ONSET_FRAMES * FRAME_MS - options.paddingMs),
          })
        } else if (speaking && quietMs >= options.silenceMs) {
          speaking = false
          events.push({ type: 'stopped', atMs })
        }
      }
      rest = data.subarray(offset)
      return events
    },
  }
}

function rms(frame: Buffer): number {
  let sum = 0
  for (const byte of frame) sum += linear(byte) ** 2
  return Math.sqrt(sum / frame.length)
}
