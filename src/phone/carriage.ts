import type { ModelId, ModelService, RealtimeEndpoint, SpeechModel } from '../model/port.ts'

/** How a call is carried, by the models there are. */
export type Carriage =
  | { readonly by: 'realtime'; readonly endpoint: RealtimeEndpoint }
  /** Transcription hears, the text model answers, and speech is made sentence by sentence. */
  | { readonly by: 'speech'; readonly speech: SpeechModel }
  /** The caller hears why nobody talks to them. */
  | { readonly by: 'nothing' }

export function carriageOf({ realtime, speech }: Pick<ModelService, 'realtime' | 'speech'>): Carriage {
  if (realtime !== null) return { by: 'realtime', endpoint: realtime }
  if (speech?.ids.transcription && speech.ids.speech) return { by: 'speech', speech }
  return { by: 'nothing' }
}

/** The model that answers in a call. */
export function answeringModel({ text, ...models }: ModelService): ModelId {
  const carriage = carriageOf(models)
  if (carriage.by !== 'realtime') return text.id
  const { provider, model } = carriage.endpoint
  return { provider, model }
}

/** Says how calls are carried, or what they lack. */
export function describeCarriage(model: ModelService): { readonly ok: boolean; readonly detail: string } {
  const carriage = carriageOf(model)
  if (carriage.by === 'realtime') return { ok: true, detail: `Calls use ${carriage.endpoint.model}.` }
  if (carriage.by === 'speech') {
    const { transcription, speech } = carriage.speech.ids
    const detail = `Calls are heard by ${transcription?.model}, answered by ${model.text.id.model} and spoken by ${speech?.model}.`
    return { ok: true, detail }
  }
  return {
    ok: false,
    detail:
      'Calls need a realtime model, or a transcription and a speech model. Set OPENAI_API_KEY. If OPENAI_BASE_URL is another server, set REALTIME_MODEL, or TRANSCRIPTION_MODEL and SPEECH_MODEL. Texts work without them.',
  }
}
