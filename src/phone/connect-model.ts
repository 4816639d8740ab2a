import type { Use } from '../model/port.ts'
import type { CallLimits } from './call/call-state.ts'
import type { Codec } from './call/codec.ts'
import { wordsMedium } from './call/medium.ts'
import type { ConnectModel } from './call/ports.ts'
import { connectRealtime } from './call/ws-sockets.ts'
import type { Carriage } from './carriage.ts'
import { createRelayEars, relayMouth } from './relay/relay-ears.ts'
import { createTranscribingEars } from './spoken/ears.ts'
import { createSpeechMouth } from './spoken/mouth.ts'
import { createSpokenSession, type SpokenSessionOptions } from './spoken/session.ts'

/** A local model may need this long for a long sentence. */
const TRANSCRIBED_WITHIN_MS = 20_000

/** Recall is faster than this. Without matching memories, a reply is delayed by this much. */
const RECALL_MS = 100

export const spokenLimits: Partial<CallLimits> = { transcriptMs: TRANSCRIBED_WITHIN_MS + 2_000 }

/** Connects a call with the model that answers it. Each request for transcription or speech is metered by itself. */
export function connectModel(
  carriage: Exclude<Carriage, { by: 'nothing' }>,
  options: Omit<SpokenSessionOptions, 'createEars' | 'mouth' | 'lengthMs' | 'recallMs'> & {
    readonly use: Use
    /** Of the line. */
    readonly codec: Codec
  },
): ConnectModel {
  if (carriage.by === 'realtime') return connectRealtime(carriage.endpoint)
  const bytesOf = (piece: string) => Buffer.byteLength(piece, 'base64')
  if (carriage.by === 'relay')
    return createSpokenSession({
      ...options,
      recallMs: RECALL_MS,
      createEars: createRelayEars,
      mouth: relayMouth,
      lengthMs: (piece) => bytesOf(piece) * wordsMedium.msPerByte,
    })
  const { speech } = carriage
  const { use, codec, failed } = options
  return createSpokenSession({
    ...options,
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
    lengthMs: (piece) => bytesOf(piece) / codec.bytesPerMs,
  })
}
