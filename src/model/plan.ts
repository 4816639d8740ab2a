import * as z from 'zod'
import { kindOfAddress, kindsOfService } from './kinds.ts'
import {
  FIRST_EVENT_SECONDS,
  isOpenAi,
  modelApis,
  OPENAI_BASE_URL,
  openAiDefaults,
} from './openai/defaults.ts'
import {
  BUILTIN,
  MAIN,
  type ModelChoice,
  type ModelUse,
  modelChoiceSchema,
  type ServiceEntry,
  serviceEntrySchema,
} from './words.ts'

/** The settings that select the service and the model of each use. */
export const usesOfModels = {
  chat: { service: 'CHAT_SERVICE', model: 'CHAT_MODEL' },
  utility: { service: 'UTILITY_SERVICE', model: 'UTILITY_MODEL' },
  embedding: { service: 'EMBEDDING_SERVICE', model: 'EMBEDDING_MODEL' },
  transcription: { service: 'TRANSCRIPTION_SERVICE', model: 'TRANSCRIPTION_MODEL' },
  speech: { service: 'SPEECH_SERVICE', model: 'SPEECH_MODEL' },
  realtime: { service: 'REALTIME_SERVICE', model: 'REALTIME_MODEL' },
} as const satisfies Record<ModelUse, unknown>

/** The settings that select the models. Empty counts as unset. */
export type ModelSettings = {
  readonly [Key in
    | (typeof usesOfModels)[ModelUse]['service' | 'model']
    | 'OPENAI_API_KEY'
    | 'OPENAI_BASE_URL'
    | 'MODEL_API'
    | 'SERVICES'
    | 'SERVICE_KEYS'
    | 'CHAT_FALLBACK'
    | 'CONTEXT_TOKENS'
    | 'REALTIME_VOICE'
    | 'MODEL_FIRST_EVENT_SECONDS']?: string | null | undefined
}

const servicesSchema = z.array(serviceEntrySchema)
const keysSchema = z.record(z.string(), z.string())
const fallbackSchema = z.array(modelChoiceSchema)

export type PlannedService = ServiceEntry & {
  readonly apiKey: string | null
  /** False for `main` while nothing is set, so that the builtin model answers for it. */
  readonly isSet: boolean
}

/** Which model of which service is used for what. */
export type ModelPlan = {
  /** `main` first. */
  readonly services: readonly PlannedService[]
  /** A use without a model has no port. */
  readonly uses: Readonly<Record<ModelUse, { readonly service: string; readonly model: string | null }>>
  /** What answers in the chat if the chosen model fails, in order. */
  readonly fallback: readonly ModelChoice[]
  /** How much fits into a request of the chat model, if the owner says so. */
  readonly contextTokens: number | undefined
  readonly voice: string | undefined
  readonly firstEventMs: number
}

/**
 * Reads the plan from the settings. Default models apply on OpenAI's own API only: on another server a model must
 * be named, except that a chat model without a name is called `default`. Throws TypeError for an invalid base URL.
 */
export function planOf(settings: ModelSettings): ModelPlan {
  const keys = keysSchema.parse(JSON.parse(settings.SERVICE_KEYS || '{}'))
  const further = servicesSchema.parse(JSON.parse(settings.SERVICES || '[]'))
  const services = [
    mainService(settings),
    ...further.map((entry) => ({
      ...entry,
      apiKey: (Object.hasOwn(keys, entry.id) && keys[entry.id]) || null,
      isSet: true,
    })),
  ]

  function used(use: ModelUse) {
    const { service: serviceKey, model: modelKey } = usesOfModels[use]
    const service = settings[serviceKey]?.trim() || MAIN
    const found = services.find(({ id }) => id === service)
    if (found?.isSet === false) return { service, model: null }
    const byDefault = found && isOpenAi(found.baseUrl) ? openAiDefaults[`${use}Model`] : null
    const unnamed = use === 'chat' ? UNNAMED : null
    return { service, model: settings[modelKey]?.trim() || (byDefault ?? unnamed) }
  }

  const chat = used('chat')
  const utility = used('utility')
  // A single model does everything.
  const forUtility = utility.service === chat.service ? chat.model : null
  return {
    services,
    uses: {
      chat,
      utility: { ...utility, model: utility.model ?? forUtility },
      embedding: used('embedding'),
      transcription: used('transcription'),
      speech: used('speech'),
      realtime: used('realtime'),
    },
    fallback: fallbackSchema.parse(JSON.parse(settings.CHAT_FALLBACK || '[]')),
    contextTokens: settings.CONTEXT_TOKENS ? Number(settings.CONTEXT_TOKENS) : undefined,
    // The same voice on the phone and elsewhere.
    voice: settings.REALTIME_VOICE?.trim() || undefined,
    firstEventMs: Number(settings.MODEL_FIRST_EVENT_SECONDS ?? FIRST_EVENT_SECONDS) * 1000,
  }
}

/** What a server with one model is usually asked for. */
const UNNAMED = 'default'

function mainService(settings: ModelSettings): PlannedService {
  const apiKey = settings.OPENAI_API_KEY?.trim() || null
  const address = settings.OPENAI_BASE_URL?.trim() || null
  const baseUrl = address ?? OPENAI_BASE_URL
  const kind = kindOfAddress(baseUrl)
  return {
    id: MAIN,
    kind,
    title: kind === 'other' ? new URL(baseUrl).host : kindsOfService[kind].title,
    baseUrl,
    api: modelApis.find((api) => api === settings.MODEL_API) ?? 'auto',
    apiKey,
    isSet: apiKey !== null || address !== null,
  }
}

/** The service that is named; `builtin` for the builtin model, undefined if there is none. */
export function serviceNamed(plan: ModelPlan, id: string): PlannedService | typeof BUILTIN | undefined {
  if (id === BUILTIN) return BUILTIN
  const found = plan.services.find((service) => service.id === id)
  return found?.isSet === false ? BUILTIN : found
}
