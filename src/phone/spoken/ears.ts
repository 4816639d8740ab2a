import { type Codec, muLaw } from '../call/codec.ts'
import type { CreateEars } from './ports.ts'
import { createVoiceActivity } from './voice-activity.ts'
import { wavFile } from './wav.ts'

const FRAME_MS = 20
/** What is kept from before the detected start: 300 ms, and the start itself. */
const PADDING_FRAMES = 20

/**
 * Hears with a transcription model: finds where the caller speaks, and has each utterance written down once it has
 * ended. A later one does not wait for an earlier one to be transcribed, but its words do.
 */
export function createTranscribingEars(options: {
  readonly transcribe: (wav: Uint8Array, seconds: number, signal: AbortSignal) => Promise<string>
  readonly failed: (error: unknown) => void
  /** Of the line. */
  readonly codec: Codec
}): CreateEars {
  const { codec } = options
  const frameBytes = FRAME_MS * codec.bytesPerMs
  return ({ started, stopped, heard }) => {
    const over = new AbortController()
    const activity = createVoiceActivity()
    let rest = Buffer.alloc(0)
    let frames: Buffer[] = []
    let isSpeaking = false
    let earlier: Promise<unknown> = Promise.resolve()

    async function transcribe(audio: Buffer): Promise<string | null> {
      try {
        const wav = wavFile(codec.rate, codec.decode(audio))
        return await options.transcribe(wav, audio.length / codec.bytesPerMs / 1000, over.signal)
      } catch (error) {
        if (!over.signal.aborted) options.failed(error)
        return null
      }
    }
    function take(frame: Buffer): void {
      frames.push(frame)
      const change = activity.frame(toPhoneRate(codec.decode(frame), codec.rate))
      if (change === 'started') {
        isSpeaking = true
        started()
      } else if (change === 'stopped') {
        isSpeaking = false
        const words = transcribe(Buffer.concat(frames))
        frames = []
        stopped()
        earlier = Promise.all([words, earlier]).then(([text]) => {
          if (!over.signal.aborted) heard(text)
        })
      } else if (!isSpeaking && frames.length > PADDING_FRAMES) frames.shift()
    }

    return {
      hear(audio) {
        rest = Buffer.concat([rest, Buffer.from(audio, 'base64')])
        for (; rest.length >= frameBytes; rest = rest.subarray(frameBytes)) take(rest.subarray(0, frameBytes))
      },
      close: () => over.abort(),
    }
  }
}

/** Averages samples down to the rate of the phone, at which loudness is judged. */
function toPhoneRate(samples: Int16Array, rate: number): Int16Array {
  const step = rate / muLaw.rate
  if (step === 1) return samples
  return Int16Array.from({ length: Math.floor(samples.length / step) }, (_, at) => {
    const group = samples.subarray(at * step, (at + 1) * step)
    return group.reduce((sum, sample) => sum + sample, 0) / step
  })
}
