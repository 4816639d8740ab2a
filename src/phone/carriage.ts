import type { ModelService } from '../model/port.ts'

/** Who hears and speaks in a call. */
export type Carriage =
  /** A realtime model, over a media stream. */
  | { readonly kind: 'realtime'; readonly endpoint: NonNullable<ModelService['realtime']> }
  /** The telephony provider, which relays words to the text model. */
  | { readonly kind: 'relay' }
  /** Nobody: the caller hears why. */
  | { readonly kind: 'none' }

/** Chooses how a new call is carried. `wanted` is the setting; a relay needs an account at the provider. */
export function carriageOf(options: {
  readonly wanted: 'auto' | 'media' | 'relay'
  readonly model: Pick<ModelService, 'realtime'>
  readonly hasAccount: boolean
}): Carriage {
  const { wanted, model, hasAccount } = options
  if (wanted !== 'relay' && model.realtime) return { kind: 'realtime', endpoint: model.realtime }
  return wanted !== 'media' && hasAccount ? { kind: 'relay' } : { kind: 'none' }
}
