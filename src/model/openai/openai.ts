import { randomBytes } from 'node:crypto'
import { createEitherStructuredModel, createEitherTextModel } from '../completions/either.ts'
import type { ModelService } from '../port.ts'
import { structuredWithin, withinContext } from '../within-context.ts'
import { createCapabilities } from './capabilities.ts'
import { checkService } from './check.ts'
import { createClientLoader, type Endpoint, realtimeEndpoint } from './client.ts'
import { createCompactionModel } from './compaction.ts'
import { createContextSizes } from './context-sizes.ts'
import { type OpenAiCore, scopeOf, usesResponses } from './core.ts'
import { createDataBlocks } from './data-block.ts'
import { type ModelApi, OPENAI_BASE_URL } from './defaults.ts'
import { createEmbeddingModel } from './embeddings.ts'
import { createSpeechModel } from './speech.ts'
import { defaultLimits, type Limits, systemTiming, type Timing } from './timing.ts'

/** The service and its models. A null model disables its port. */
export type OpenAiSettings = {
  readonly apiKey: string | null
  /** Null for OpenAI. Without credentials and a slash at the end, as the setting's schema leaves it. */
  readonly baseUrl: string | null
  /** `auto` if missing. On OpenAI's own service, `auto` always means the Responses API. */
  readonly api?: ModelApi | undefined
  readonly chatModel: string
  readonly utilityModel: string | null
  readonly embeddingModel: string | null
  readonly realtimeModel: string | null
  readonly transcriptionModel: string | null
  readonly speechModel: string | null
  readonly speechVoice?: string | undefined
  /** How much fits into a request of the chat model; the service is asked if missing. */
  readonly contextTokens?: number | undefined
  readonly firstEventMs?: number | undefined
}

export type OpenAiDependencies = {
  readonly timing?: Timing
  readonly limits?: Partial<Limits>
}

/**
 * A model service on OpenAI's API or a compatible server. Loads and sends nothing before the first request.
 * An optional port is null while the server is known to lack it.
 */
export function createOpenAiService(
  settings: OpenAiSettings,
  dependencies: OpenAiDependencies = {},
): ModelService {
  const { baseUrl, apiKey } = settings
  const endpoint = {
    baseUrl: baseUrl ?? OPENAI_BASE_URL,
    authorization: apiKey === null ? null : `Bearer ${apiKey}`,
  }
  const core = createCore(endpoint, settings, dependencies)
  const { capabilities } = core
  const { chatModel, embeddingModel, realtimeModel, transcriptionModel, speechModel } = settings
  const sizeOf = createContextSizes(core)
  const context = sizeOf(chatModel, settings.contextTokens)
  const text = withinContext(createEitherTextModel(core, chatModel), context)
  const structured = (model: string) =>
    structuredWithin(createEitherStructuredModel(core, model), sizeOf(model))
  const compaction = createCompactionModel(core, chatModel)
  const embedding = embeddingModel === null ? null : createEmbeddingModel(core, embeddingModel)
  const hasSpeech = transcriptionModel !== null || speechModel !== null
  return {
    text,
    context,
    utility: structured(settings.utilityModel ?? chatModel),
    structured,
    get compaction() {
      const isMissing = !usesResponses(core) || capabilities.lacks(scopeOf(core, compaction.id), 'compaction')
      return isMissing ? null : compaction
    },
    get embedding() {
      if (embedding === null || capabilities.lacks(scopeOf(core, embedding.id), 'embeddings')) return null
      return embedding
    },
    speech: hasSpeech
      ? createSpeechModel(core, {
          transcription: transcriptionModel,
          speech: speechModel,
          voice: settings.speechVoice ?? 'alloy',
        })
      : null,
    realtime: realtimeModel === null ? null : realtimeEndpoint(endpoint, realtimeModel),
    check: (signal) =>
      checkService(core, chatModel, signal, createContextSizes(core)(chatModel, settings.contextTokens)),
  }
}

function createCore(
  endpoint: Endpoint,
  settings: OpenAiSettings,
  dependencies: OpenAiDependencies,
): OpenAiCore {
  const { timing = systemTiming } = dependencies
  const { baseUrl } = endpoint
  const url = new URL(baseUrl)
  const isOpenAi = url.host === new URL(OPENAI_BASE_URL).host
  const { firstEventMs = defaultLimits.firstEventMs, api = 'auto' } = settings
  const limits = { ...defaultLimits, firstEventMs, ...dependencies.limits }
  return {
    provider: isOpenAi ? 'openai' : url.host.slice(0, 100),
    where: url.origin,
    baseUrl,
    isOpenAi,
    api: isOpenAi && api === 'auto' ? 'responses' : api,
    load: createClientLoader(endpoint, limits),
    secrets: [settings.apiKey ?? ''],
    timing,
    limits,
    capabilities: createCapabilities(timing.nowMs),
    dataBlock: createDataBlocks(randomBytes(32)),
    splitsRoleTokens: !isOpenAi,
  }
}
