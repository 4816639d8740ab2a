import type { SpeechModel, Use } from '../../model/port.ts'
import type { CallLimits } from '../call/call-state.ts'
import type { Codec } from '../call/codec.ts'
import type { ConnectModel } from '../call/ports.ts'
import { createTranscribingEars } from './ears.ts'
import { createSpeechMouth } from './mouth.ts'
import { createSpokenSession, type SpokenSessionOptions } from './session.ts'

/** A local model may need this long for a long sentence. */
const TRANSCRIBED_WITHIN_MS = 20_000

/** Recall is faster than this. Without matching memories, a reply is delayed by this much. */
export const RECALL_MS = 100

export const spokenLimits: Partial<CallLimits> = { transcriptMs: TRANSCRIBED_WITHIN_MS + 2_000 }

/** Carries a call by transcription, the text model and speech. Each of their requests is metered by itself. */
export function connectSpoken(
  options: Omit<SpokenSessionOptions, 'createEars' | 'mouth' | 'lengthMs'> & {
    readonly speech: SpeechModel
    readonly use: Use
    /** Of the line. */
    readonly codec: Codec
  },
): ConnectModel {
  const { speech, use, codec, failed } = options
  return createSpokenSession({
    ...options,
    lengthMs: (piece) => Buffer.byteLength(piece, 'base64') / codec.bytesPerMs,
    recallMs: RECALL_MS,
    createEars: createTranscribingEars({
      transcribe(wav, seconds, signal) {
        const inTime = AbortSignal.any([signal, AbortSignal.timeout(TRANSCRIBED_WITHIN_MS)])
        return speech.transcribe(wav, 'wav', inTime, { use, seconds })
      },
      failed,
      codec,
    }),
    mouth: createSpeechMouth((text, signal) => speech.stream(text, signal, use), codec),
  })
}
