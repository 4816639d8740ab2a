const FRAME_MS = 20
const ONSET_FRAMES = 100 / FRAME_MS
const SILENCE_FRAMES = 500 / FRAME_MS
/** A longer utterance is split. */
const MOST_FRAMES = 120_000 / FRAME_MS

/** Loudness as root mean square of 16-bit samples. Speech on the phone has 500 to 3000, a quiet line below 50. */
const QUIET = 10
const LEAST_START = 260
const LEAST_STOP = 160
/** How much louder than the noise speech begins, and below which it ends. */
const START_ABOVE = 3.2
const STOP_ABOVE = 1.8
/** An echo of the delegate is far quieter than the caller, whose own loudness is known once they have spoken. */
const ECHO_SHARE = 0.3
/** The caller's loudness is forgotten by half in ten seconds: they may have put the phone down. */
const FORGOTTEN_A_FRAME = 0.5 ** (FRAME_MS / 10_000)

/** The noise is the quietest tenth of a second of the last three seconds: speech has pauses. */
const SMOOTHING = 0.8
const BLOCK_FRAMES = 500 / FRAME_MS
const BLOCKS = 6

/**
 * Detects speech by its loudness above the noise, in frames of 20 ms. Time counts in audio, not by the clock. A click
 * is too short, a tone of a key too pure, and an echo too quiet to be speech.
 */
export function createVoiceActivity() {
  const blocks: number[] = []
  let block = Number.POSITIVE_INFINITY
  let blockFrames = 0
  let smoothed: number | null = null
  let voice = 0
  let loud = 0
  let quiet = 0
  let frames = 0
  let isSpeaking = false

  function noise(): number {
    const quietest = Math.min(block, ...blocks)
    return Number.isFinite(quietest) ? quietest : 0
  }
  /** Digital silence is not the noise of the line. */
  function noteNoise(level: number): void {
    if (level < QUIET) return
    smoothed = smoothed === null ? level : SMOOTHING * smoothed + (1 - SMOOTHING) * level
    block = Math.min(block, smoothed)
    blockFrames += 1
    if (blockFrames < BLOCK_FRAMES) return
    blocks.push(block)
    if (blocks.length > BLOCKS) blocks.shift()
    block = Number.POSITIVE_INFINITY
    blockFrames = 0
  }

  return {
    /** Takes the samples of one frame, at 8 kHz; returns what it changed. */
    frame(samples: Int16Array): 'started' | 'stopped' | null {
      const level = loudness(samples)
      voice *= FORGOTTEN_A_FRAME
      const floor = noise()
      noteNoise(level)
      if (!isSpeaking) {
        const threshold = Math.max(LEAST_START, START_ABOVE * floor, ECHO_SHARE * voice)
        const isVoice = level >= threshold && !isKeyTone(samples)
        loud = isVoice ? loud + 1 : Math.max(0, loud - 1)
        if (loud < ONSET_FRAMES) return null
        isSpeaking = true
        ;[loud, quiet, frames] = [0, 0, 0]
        return 'started'
      }
      frames += 1
      const isQuiet = level < Math.max(LEAST_STOP, STOP_ABOVE * floor, (ECHO_SHARE * voice) / 2)
      quiet = isQuiet ? quiet + 1 : 0
      if (!isQuiet) voice = Math.max(voice, voice + (level - voice) * 0.1)
      if (quiet < SILENCE_FRAMES && frames < MOST_FRAMES) return null
      isSpeaking = false
      return 'stopped'
    },
  }
}

/** Frequencies below 200 Hz hardly count: the phone carries little voice there, and most noise of engines and wind. */
const HIGH_PASS = 0.86

function loudness(samples: Int16Array): number {
  let [sum, high, last] = [0, 0, samples[0] ?? 0]
  for (const sample of samples) {
    high = HIGH_PASS * (high + sample - last)
    sum += high * high
    last = sample
  }
  return Math.sqrt(sum / samples.length)
}

const ROWS = [697, 770, 852, 941]
const COLUMNS = [1209, 1336, 1477, 1633]
/** The share of the energy that the two tones of a key hold. No voice comes near it. */
const KEY_SHARE = 0.8

function isKeyTone(samples: Int16Array): boolean {
  const total = samples.reduce((sum, sample) => sum + sample * sample, 0)
  const strongest = (tones: readonly number[]) => Math.max(...tones.map((tone) => energyAt(samples, tone)))
  return strongest(ROWS) + strongest(COLUMNS) > KEY_SHARE * total
}

/** Goertzel: the energy of one frequency in the samples. */
function energyAt(samples: Int16Array, frequency: number): number {
  const turn = 2 * Math.cos((2 * Math.PI * frequency) / 8_000)
  let [last, before] = [0, 0]
  for (const sample of samples) [last, before] = [sample + turn * last - before, last]
  return (2 * (last * last + before * before - turn * last * before)) / samples.length
}
