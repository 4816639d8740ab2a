import * as z from 'zod'
import { type Capability, CapabilityMissing, type SpeechModel } from '../port.ts'
import { saysMissing } from './capabilities.ts'
import { type OpenAiCore, requestOnce, scopeOf } from './core.ts'

/** The limit of the service for one request. */
const MAX_SPEECH_CHARS = 4096
const transcriptionSchema = z.object({ text: z.string() })

export type SpeechModels = {
  readonly transcription: string | null
  readonly speech: string | null
  readonly voice: string
}

/** Throws CapabilityMissing for a half that is not configured or that the server lacks. */
export function createSpeechModel(core: OpenAiCore, models: SpeechModels): SpeechModel {
  function missing(capability: Capability): CapabilityMissing {
    return new CapabilityMissing(
      capability,
      `The model service at ${core.where} does not support ${capability}.`,
    )
  }

  function modelOf(capability: 'transcription' | 'speech'): string {
    const model = models[capability]
    if (model === null || core.capabilities.lacks(scopeOf(core, { model }), capability))
      throw missing(capability)
    return model
  }

  function orMissing(capability: 'transcription' | 'speech', model: string) {
    return (error: unknown): never => {
      if (!saysMissing(error)) throw error
      core.capabilities.markLacking(scopeOf(core, { model }), capability)
      throw missing(capability)
    }
  }

  return {
    transcribe: (audio, format, signal) =>
      requestOnce(core, signal, async (attemptSignal) => {
        const model = modelOf('transcription')
        const client = await core.load()
        const file = new File([new Uint8Array(audio)], `speech.${format}`, { type: `audio/${format}` })
        const raw = await client.audio.transcriptions
          .create({ file, model, response_format: 'json' }, { signal: attemptSignal })
          .catch(orMissing('transcription', model))
        return transcriptionSchema.parse(raw).text
      }),
    async speak(text, signal) {
      const parts: Uint8Array[] = []
      // MP3 is a sequence of frames, so parts can be concatenated.
      for (const part of splitText(text, MAX_SPEECH_CHARS)) {
        const bytes = await requestOnce(core, signal, async (attemptSignal) => {
          const model = modelOf('speech')
          const client = await core.load()
          const response = await client.audio.speech
            .create(
              { model, voice: models.voice, input: part, response_format: 'mp3' },
              { signal: attemptSignal },
            )
            .catch(orMissing('speech', model))
          return new Uint8Array(await response.arrayBuffer())
        })
        parts.push(bytes)
      }
      return { audio: new Uint8Array(Buffer.concat(parts)), format: 'mp3' }
    },
  }
}

/** Splits a text into parts of at most `maxChars`, at the end of a sentence or word if possible. */
export function splitText(text: string, maxChars: number): string[] {
  const parts: string[] = []
  let rest = text.trim()
  while (rest.length > maxChars) {
    const head = rest.slice(0, maxChars)
    const sentence = Math.max(head.lastIndexOf('. '), head.lastIndexOf('? '), head.lastIndexOf('! ')) + 1
    const cut = sentence > 0 ? sentence : head.lastIndexOf(' ') > 0 ? head.lastIndexOf(' ') : safeCut(head)
    parts.push(rest.slice(0, cut))
    rest = rest.slice(cut).trim()
  }
  if (rest !== '') parts.push(rest)
  return parts
}

/** Avoids splitting a surrogate pair. */
function safeCut(head: string): number {
  return head.isWellFormed() ? head.length : head.length - 1
}
