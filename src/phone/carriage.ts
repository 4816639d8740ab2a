import { msg } from '../language/msg.ts'
import type { ModelId, ModelService, RealtimeEndpoint, SpeechModel } from '../model/port.ts'

/** How a call is carried, by the models there are. */
export type Carriage =
  | { readonly by: 'realtime'; readonly endpoint: RealtimeEndpoint }
  /** Transcription hears, the text model answers, and speech is made sentence by sentence. */
  | { readonly by: 'speech'; readonly speech: SpeechModel }
  /** The telephony provider hears and speaks, and the text model answers. */
  | { readonly by: 'relay' }
  /** The caller hears why nobody talks to them. */
  | { readonly by: 'nothing' }

export type CarriageChoice = {
  readonly wanted: 'auto' | 'relay'
  /** Whether there is an account at the provider, which a relay needs. */
  readonly hasAccount: boolean
}

export function carriageOf(
  { realtime, speech }: Pick<ModelService, 'realtime' | 'speech'>,
  { wanted, hasAccount }: CarriageChoice,
): Carriage {
  if (wanted === 'relay') return { by: hasAccount ? 'relay' : 'nothing' }
  if (realtime !== null) return { by: 'realtime', endpoint: realtime }
  return speech?.ids.transcription && speech.ids.speech ? { by: 'speech', speech } : { by: 'nothing' }
}

/** The model that answers in a call. */
export function answeringModel({ text }: Pick<ModelService, 'text'>, carriage: Carriage): ModelId {
  if (carriage.by !== 'realtime') return text.id
  const { provider, model } = carriage.endpoint
  return { provider, model }
}

/** Says how calls are carried, or what they lack. */
export function describeCarriage(
  model: ModelService,
  choice: CarriageChoice,
): { readonly ok: boolean; readonly detail: string } {
  const carriage = carriageOf(model, choice)
  const answering = model.text.id.model
  if (carriage.by === 'realtime') return { ok: true, detail: msg`Calls use ${carriage.endpoint.model}.` }
  if (carriage.by === 'speech') {
    const { transcription, speech } = carriage.speech.ids
    const detail = msg`Calls are heard by ${transcription?.model}, answered by ${answering} and spoken by ${speech?.model}.`
    return { ok: true, detail }
  }
  if (carriage.by === 'relay') {
    const detail = msg`Calls are heard and spoken by the telephony provider and answered by ${answering}. Accept the provider's terms for ConversationRelay in its console first.`
    return { ok: true, detail }
  }
  const detail =
    choice.wanted === 'relay'
      ? msg`Calls by the provider's relay need its account. Set the account above.`
      : msg`Calls need a model for phone calls, or one for transcription and one for reading aloud. Choose them in Settings → Model services, or let the telephony provider listen and speak (PHONE_CARRIAGE). Texts work without them.`
  return { ok: false, detail }
}
