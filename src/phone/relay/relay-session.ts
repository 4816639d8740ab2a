import { wordsMedium } from '../call/medium.ts'
import type { ConnectModel } from '../call/ports.ts'
import { createSpokenSession, type SpokenSessionOptions } from '../spoken/session.ts'
import { RECALL_MS } from '../spoken/spoken-call.ts'
import { createRelayEars, relayMouth } from './relay-ears.ts'

/** The text model behind a relay, which hears and speaks for it. */
export function createRelaySession(
  options: Omit<SpokenSessionOptions, 'createEars' | 'mouth' | 'lengthMs'>,
): ConnectModel {
  return createSpokenSession({
    ...options,
    recallMs: RECALL_MS,
    createEars: createRelayEars,
    mouth: relayMouth,
    lengthMs: (piece) => Buffer.byteLength(piece, 'base64') * wordsMedium.msPerByte,
  })
}
