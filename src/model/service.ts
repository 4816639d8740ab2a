import { createBuiltinService } from './builtin/builtin.ts'
import { type Capabilities, createCapabilities } from './openai/capabilities.ts'
import { FIRST_EVENT_SECONDS, openAiDefaults } from './openai/defaults.ts'
import { createOpenAiService, type OpenAiDependencies, type OpenAiSettings } from './openai/openai.ts'
import type { ModelId, ModelService } from './port.ts'

/** The settings that decide which model answers, by their names. Empty counts as unset. */
export type ModelSettings = {
  readonly [Key in
    | 'OPENAI_API_KEY'
    | 'OPENAI_BASE_URL'
    | 'CHAT_MODEL'
    | 'UTILITY_MODEL'
    | 'EMBEDDING_MODEL'
    | 'REALTIME_MODEL'
    | 'REALTIME_VOICE'
    | 'TRANSCRIPTION_MODEL'
    | 'SPEECH_MODEL'
    | 'MODEL_FIRST_EVENT_SECONDS']?: string | null | undefined
}

export type ModelLimits = NonNullable<OpenAiDependencies['limits']>

export type ModelDependencies = Omit<OpenAiDependencies, 'capabilities'> & {
  readonly capabilities?: Capabilities
}

/**
 * The model service that the settings ask for: OpenAI or a compatible server as soon as a key or a base URL is
 * set, else the builtin one. OpenAI's own models are the defaults on OpenAI's own API only: on another server a
 * name that is not set is a port that is not there, and CHAT_MODEL has to be set. Throws TypeError for a base URL
 * that is none.
 */
export function createModelService(
  settings: ModelSettings,
  dependencies: ModelDependencies = {},
): ModelService {
  const wanted = toOpenAiSettings(settings)
  if (wanted === null) return createBuiltinService()
  const capabilities = dependencies.capabilities ?? createCapabilities({ nowMs: Date.now })
  return createOpenAiService(wanted, { ...dependencies, capabilities })
}

function toOpenAiSettings(settings: ModelSettings): OpenAiSettings | null {
  const apiKey = settings.OPENAI_API_KEY?.trim() || null
  const baseUrl = settings.OPENAI_BASE_URL?.trim() || null
  if (apiKey === null && baseUrl === null) return null
  const isOpenAi = baseUrl === null || new URL(baseUrl).host === 'api.openai.com'
  const named = (setting: string | null | undefined, name: keyof typeof openAiDefaults) =>
    setting?.trim() || (isOpenAi ? openAiDefaults[name] : null)
  return {
    apiKey,
    baseUrl,
    chatModel: named(settings.CHAT_MODEL, 'chatModel') ?? 'default',
    utilityModel: named(settings.UTILITY_MODEL, 'utilityModel'),
    embeddingModel: named(settings.EMBEDDING_MODEL, 'embeddingModel'),
    realtimeModel: named(settings.REALTIME_MODEL, 'realtimeModel'),
    transcriptionModel: named(settings.TRANSCRIPTION_MODEL, 'transcriptionModel'),
    speechModel: named(settings.SPEECH_MODEL, 'speechModel'),
    // One voice, on the phone and off it.
    speechVoice: settings.REALTIME_VOICE?.trim() || undefined,
    firstEventMs: Number(settings.MODEL_FIRST_EVENT_SECONDS ?? FIRST_EVENT_SECONDS) * 1000,
  }
}

/** The model service as it is configured now; what is under way when the settings change ends on the former one. */
export type ModelHolder = {
  current(): ModelService
  /** Builds anew where the settings differ from those in force; true when it did. */
  configure(settings: ModelSettings): boolean
  /** Which model answers, for `/ready` and the UI. */
  answering(): ModelId & { readonly builtin: boolean }
}

/** Holds the model service over changes of the settings, and what was learned about the servers with it. */
export function createModelHolder(
  settings: ModelSettings,
  dependencies: ModelDependencies = {},
): ModelHolder {
  const capabilities = dependencies.capabilities ?? createCapabilities({ nowMs: Date.now })
  const build = (wanted: ModelSettings) => createModelService(wanted, { ...dependencies, capabilities })
  let inForce = JSON.stringify(toOpenAiSettings(settings))
  let service = build(settings)
  return {
    current: () => service,
    configure(wanted) {
      const next = JSON.stringify(toOpenAiSettings(wanted))
      if (next === inForce) return false
      service = build(wanted)
      inForce = next
      return true
    },
    answering: () => ({ ...service.text.id, builtin: service.text.id.provider === 'builtin' }),
  }
}
