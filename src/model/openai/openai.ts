import { randomBytes } from 'node:crypto'
import { createEitherStructuredModel, createEitherTextModel } from '../completions/either.ts'
import type {
  ChatModel,
  CompactionModel,
  EmbeddingModel,
  RealtimeEndpoint,
  SpeechModel,
  StructuredModel,
} from '../port.ts'
import { structuredWithin, withinContext } from '../within-context.ts'
import type { ServiceKind } from '../words.ts'
import { createCapabilities } from './capabilities.ts'
import { type Checked, checkService } from './check.ts'
import { createClientLoader, type Endpoint, realtimeEndpoint } from './client.ts'
import { createCompactionModel } from './compaction.ts'
import { createContextSizes } from './context-sizes.ts'
import { type OpenAiCore, scopeOf, usesResponses } from './core.ts'
import { createDataBlocks } from './data-block.ts'
import { isOpenAi, type ModelApi, providerOf } from './defaults.ts'
import { createEmbeddingModel } from './embeddings.ts'
import { type Inspected, inspectService } from './inspect.ts'
import { type ListedModel, listModels } from './models.ts'
import { createSpeechModel, type SpeechModels } from './speech.ts'
import { defaultLimits, type Limits, systemTiming, type Timing } from './timing.ts'

/** Where a service is, and how it is asked. */
export type ConnectionSettings = {
  readonly kind: ServiceKind
  readonly apiKey: string | null
  /** Without credentials and a slash at the end, as the setting's schema leaves it. */
  readonly baseUrl: string
  /** On OpenAI's own service, `auto` always means the Responses API. */
  readonly api: ModelApi
  readonly firstEventMs?: number | undefined
}

export type OpenAiDependencies = {
  readonly timing?: Timing
  readonly limits?: Partial<Limits>
}

/** A service on OpenAI's API or a compatible server, whose models become ports. */
export type Connection = {
  /** `contextTokens`: how much fits into a request, if the owner says so. Otherwise the service is asked. */
  chat(model: string, contextTokens?: number): ChatModel
  structured(model: string): StructuredModel
  /** The port while the server is not known to lack it. */
  embedding(model: string): () => EmbeddingModel | null
  speech(models: SpeechModels): SpeechModel
  realtime(model: string, transcription: string): RealtimeEndpoint
  /** Without a model, whether the service answers. */
  check(model: string | null, signal: AbortSignal, contextTokens?: number): Promise<Checked>
  /** The same, and what the service offers. */
  inspect(model: string | null, signal: AbortSignal, contextTokens?: number): Promise<Inspected>
  /** Throws ModelError if the service does not answer. */
  models(signal: AbortSignal): Promise<readonly ListedModel[]>
}

/** Loads and sends nothing before the first request. */
export function connect(settings: ConnectionSettings, dependencies: OpenAiDependencies = {}): Connection {
  const { baseUrl, apiKey } = settings
  const endpoint = { baseUrl, authorization: apiKey === null ? null : `Bearer ${apiKey}` }
  const core = createCore(endpoint, settings, dependencies)
  const unlessLacking = <P extends CompactionModel | EmbeddingModel>(
    port: P,
    capability: 'compaction' | 'embeddings',
  ) => (core.capabilities.lacks(scopeOf(core, port.id), capability) ? null : port)
  const sizeOf = createContextSizes(core)
  return {
    chat(model, contextTokens) {
      const compaction = createCompactionModel(core, model)
      const context = sizeOf(model, contextTokens)
      return {
        text: withinContext(createEitherTextModel(core, model), context),
        context,
        get compaction() {
          return usesResponses(core) ? unlessLacking(compaction, 'compaction') : null
        },
      }
    },
    structured: (model) => structuredWithin(createEitherStructuredModel(core, model), sizeOf(model)),
    embedding(model) {
      const port = createEmbeddingModel(core, model)
      return () => unlessLacking(port, 'embeddings')
    },
    speech: (models) => createSpeechModel(core, models),
    realtime: (model, transcription) => ({
      ...realtimeEndpoint(endpoint, model),
      provider: core.provider,
      transcription,
    }),
    check: (model, signal, contextTokens) =>
      // A new reader, because a check must not answer from the cache.
      checkService(
        core,
        model,
        signal,
        model === null ? null : createContextSizes(core)(model, contextTokens),
      ),
    inspect: (model, signal, contextTokens) => inspectService(core, model, signal, contextTokens),
    models: (signal) => listModels(core, signal),
  }
}

function createCore(
  endpoint: Endpoint,
  settings: ConnectionSettings,
  dependencies: OpenAiDependencies,
): OpenAiCore {
  const { timing = systemTiming } = dependencies
  const { baseUrl } = endpoint
  const isOwn = isOpenAi(baseUrl)
  const { firstEventMs = defaultLimits.firstEventMs, api, kind, apiKey } = settings
  const limits = { ...defaultLimits, firstEventMs, ...dependencies.limits }
  return {
    provider: providerOf(baseUrl),
    where: new URL(baseUrl).origin,
    baseUrl,
    kind,
    apiKey,
    isOpenAi: isOwn,
    api: isOwn && api === 'auto' ? 'responses' : api,
    load: createClientLoader(endpoint, limits),
    secrets: [apiKey ?? ''],
    timing,
    limits,
    capabilities: createCapabilities(timing.nowMs),
    dataBlock: createDataBlocks(randomBytes(32)),
    splitsRoleTokens: !isOwn,
  }
}
