import type { Use } from '../model/port.ts'
import type { Codec } from './call/codec.ts'
import type { ConnectModel } from './call/ports.ts'
import { connectRealtime } from './call/ws-sockets.ts'
import type { Carriage } from './carriage.ts'
import { createRelaySession } from './relay/relay-session.ts'
import type { SpokenSessionOptions } from './spoken/session.ts'
import { connectSpoken } from './spoken/spoken-call.ts'

/** Connects a call with the model that answers it. */
export function connectModel(
  carriage: Exclude<Carriage, { by: 'nothing' }>,
  options: Omit<SpokenSessionOptions, 'createEars' | 'mouth' | 'lengthMs'> & {
    readonly use: Use
    readonly codec: Codec
  },
): ConnectModel {
  if (carriage.by === 'realtime') return connectRealtime(carriage.endpoint)
  if (carriage.by === 'relay') return createRelaySession(options)
  return connectSpoken({ ...options, speech: carriage.speech })
}
