import { randomBytes } from 'node:crypto'
import type { ModelService } from '../port.ts'
import { createCapabilities } from './capabilities.ts'
import { checkService } from './check.ts'
import { createClientLoader, type Endpoint, realtimeEndpoint } from './client.ts'
import { createCompactionModel } from './compaction.ts'
import { type OpenAiCore, scopeOf } from './core.ts'
import { createDataBlocks } from './data-block.ts'
import { OPENAI_BASE_URL } from './defaults.ts'
import { createEmbeddingModel } from './embeddings.ts'
import { createSpeechModel } from './speech.ts'
import { createStructuredModel } from './structured.ts'
import { createTextModel } from './text.ts'
import { defaultLimits, type Limits, systemTiming, type Timing } from './timing.ts'

/** The service and its models. A null model disables its port. */
export type OpenAiSettings = {
  readonly apiKey: string | null
  /** Null for OpenAI. Without credentials and a slash at the end, as the setting's schema leaves it. */
  readonly baseUrl: string | null
  readonly chatModel: string
  readonly utilityModel: string | null
  readonly embeddingModel: string | null
  readonly realtimeModel: string | null
  readonly transcriptionModel: string | null
  readonly speechModel: string | null
  readonly speechVoice?: string | undefined
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
  const text = createTextModel(core, chatModel)
  const compaction = createCompactionModel(core, chatModel)
  const embedding = embeddingModel === null ? null : createEmbeddingModel(core, embeddingModel)
  const hasSpeech = transcriptionModel !== null || speechModel !== null
  return {
    text,
    utility: createStructuredModel(core, settings.utilityModel ?? chatModel),
    structured: (model) => createStructuredModel(core, model),
    get compaction() {
      return capabilities.lacks(scopeOf(core, compaction.id), 'compaction') ? null : compaction
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
    check: (signal) => checkService(core, chatModel, signal),
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
  const { firstEventMs = defaultLimits.firstEventMs } = settings
  const limits = { ...defaultLimits, firstEventMs, ...dependencies.limits }
  return {
    provider: isOpenAi ? 'openai' : url.host.slice(0, 100),
    where: url.origin,
    baseUrl,
    load: createClientLoader(endpoint, limits),
    secrets: [settings.apiKey ?? ''],
    timing,
    limits,
    capabilities: createCapabilities(timing.nowMs),
    dataBlock: createDataBlocks(randomBytes(32)),
    splitsRoleTokens: !isOpenAi,
  }
}
