import { createBuiltinService } from './builtin/builtin.ts'
import { type Meter, meterService } from './metered.ts'
import { FIRST_EVENT_SECONDS, modelApis, openAiDefaults } from './openai/defaults.ts'
import { createOpenAiService, type OpenAiDependencies, type OpenAiSettings } from './openai/openai.ts'
import type { ModelService } from './port.ts'

/** The settings that select the model. Empty counts as unset. */
export type ModelSettings = {
  readonly [Key in
    | 'OPENAI_API_KEY'
    | 'OPENAI_BASE_URL'
    | 'MODEL_API'
    | 'CHAT_MODEL'
    | 'CONTEXT_TOKENS'
    | 'UTILITY_MODEL'
    | 'EMBEDDING_MODEL'
    | 'REALTIME_MODEL'
    | 'REALTIME_VOICE'
    | 'TRANSCRIPTION_MODEL'
    | 'SPEECH_MODEL'
    | 'MODEL_FIRST_EVENT_SECONDS']?: string | null | undefined
}

export type ModelLimits = NonNullable<OpenAiDependencies['limits']>

/**
 * Creates OpenAI or a compatible server if a key or a base URL is set, else the builtin model. Default models
 * apply on OpenAI's own API only: on another server an unset model disables its port, and CHAT_MODEL is
 * required. Throws TypeError for an invalid base URL.
 */
export function createModelService(
  settings: ModelSettings,
  dependencies: OpenAiDependencies = {},
): ModelService {
  const wanted = toOpenAiSettings(settings)
  return wanted === null ? createBuiltinService() : createOpenAiService(wanted, dependencies)
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
    api: modelApis.find((api) => api === settings.MODEL_API),
    chatModel: named(settings.CHAT_MODEL, 'chatModel') ?? 'default',
    utilityModel: named(settings.UTILITY_MODEL, 'utilityModel'),
    embeddingModel: named(settings.EMBEDDING_MODEL, 'embeddingModel'),
    realtimeModel: named(settings.REALTIME_MODEL, 'realtimeModel'),
    transcriptionModel: named(settings.TRANSCRIPTION_MODEL, 'transcriptionModel'),
    speechModel: named(settings.SPEECH_MODEL, 'speechModel'),
    contextTokens: settings.CONTEXT_TOKENS ? Number(settings.CONTEXT_TOKENS) : undefined,
    // The same voice on the phone and elsewhere.
    speechVoice: settings.REALTIME_VOICE?.trim() || undefined,
    firstEventMs: Number(settings.MODEL_FIRST_EVENT_SECONDS ?? FIRST_EVENT_SECONDS) * 1000,
  }
}

/** The current model service, with every request paid. Requests in progress finish on the previous one. */
export function createModelHolder(
  settings: ModelSettings,
  { meter, ...dependencies }: OpenAiDependencies & { readonly meter?: Meter } = {},
) {
  const create = (wanted: ModelSettings) => {
    const created = createModelService(wanted, dependencies)
    return meter ? meterService(created, meter) : created
  }
  let inForce = JSON.stringify(toOpenAiSettings(settings))
  let service = create(settings)
  return {
    current: () => service,
    /** Rebuilds the service if the settings changed; true if so. */
    configure(wanted: ModelSettings): boolean {
      const next = JSON.stringify(toOpenAiSettings(wanted))
      if (next === inForce) return false
      service = create(wanted)
      inForce = next
      return true
    },
    /** The model in use, for `/ready` and the UI. */
    answering: () => ({ ...service.text.id, builtin: service.text.id.provider === 'builtin' }),
  }
}
