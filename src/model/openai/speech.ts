import * as z from 'zod'
import { wholeCharacters } from '../../../projections/whole-characters.ts'
import type { SpeechModel } from '../port.ts'
import { withAttempts } from './attempts.ts'
import { attemptOptions, missing, type OpenAiCore, orMissing, requestOnce, scopeOf } from './core.ts'

/** The limit of the service. Most longer answers are in a note, and the reply is its beginning. */
const MAX_SPEECH_CHARS = 4096
const transcriptionSchema = z.object({ text: z.string() })

export type SpeechModels = {
  readonly transcription: string | null
  readonly speech: string | null
  readonly voice: string
}

/** Throws CapabilityMissing for a half that is not configured or that the server lacks. */
export function createSpeechModel(core: OpenAiCore, models: SpeechModels): SpeechModel {
  function modelOf(capability: 'transcription' | 'speech'): string {
    const model = models[capability]
    if (model === null || core.capabilities.lacks(scopeOf(core, { model }), capability))
      throw missing(core, capability)
    return model
  }

  /** Requests speech. Resolves once it begins. */
  async function request(text: string, response_format: 'mp3' | 'wav', signal: AbortSignal) {
    const model = modelOf('speech')
    const client = await core.load()
    const input = wholeCharacters(text.slice(0, MAX_SPEECH_CHARS))
    return client.audio.speech
      .create({ model, voice: models.voice, input, response_format }, { signal })
      .catch(orMissing(core, 'speech', { model }))
  }

  const idOf = (model: string | null) => (model === null ? null : { provider: core.provider, model })
  return {
    ids: { transcription: idOf(models.transcription), speech: idOf(models.speech) },
    transcribe: (audio, format, signal) =>
      requestOnce(core, signal, async (attemptSignal) => {
        const model = modelOf('transcription')
        const client = await core.load()
        const file = new File([new Uint8Array(audio)], `speech.${format}`, { type: `audio/${format}` })
        const raw = await client.audio.transcriptions
          .create({ file, model, response_format: 'json' }, { signal: attemptSignal })
          .catch(orMissing(core, 'transcription', { model }))
        return transcriptionSchema.parse(raw).text
      }),
    speak: (text, signal) =>
      requestOnce(core, signal, async (attemptSignal) => {
        const response = await request(text, 'mp3', attemptSignal)
        return { audio: new Uint8Array(await response.arrayBuffer()), format: 'mp3' }
      }),
    stream(text, signal) {
      const options = { ...attemptOptions(core, signal), firstEventMs: core.limits.firstEventMs }
      return withAttempts(async function* (attemptSignal, alive) {
        const response = await request(text, 'wav', attemptSignal)
        for await (const chunk of response.body ?? []) {
          alive()
          yield chunk
        }
      }, options)
    },
  }
}
