import type { Language } from '../language/languages.ts'
import { english } from '../language/message.ts'
import { createBuiltinService } from './builtin/builtin.ts'
import { meterConnection, type Pay } from './metered.ts'
import { openAiDefaults, providerOf } from './openai/defaults.ts'
import { type Connection, connect, type OpenAiDependencies } from './openai/openai.ts'
import { type ModelPlan, type ModelSettings, planOf, serviceNamed, usesOfModels } from './plan.ts'
import { type ChatModel, ModelError, type ModelService, type SpeechModel } from './port.ts'
import { BUILTIN, type ModelChoice, type ModelUse, modelUses, type ServiceKind } from './words.ts'

export type ModelLimits = NonNullable<OpenAiDependencies['limits']>

/** A use together with the connection to its service; the builtin model has none. */
type Used = { readonly connection: Connection; readonly model: string }

/** Connections to the services of a plan, made on first use. Undefined for the builtin model and for none. */
function createConnections(plan: ModelPlan, dependencies: OpenAiDependencies, pay: Pay | undefined) {
  const made = new Map<string, Connection>()
  return (id: string): Connection | undefined => {
    const service = serviceNamed(plan, id)
    if (service === undefined || service === BUILTIN) return undefined
    const known = made.get(id)
    if (known !== undefined) return known
    const connection = connect({ ...service, firstEventMs: plan.firstEventMs }, dependencies)
    const paid = pay ? meterConnection(connection, pay) : connection
    made.set(id, paid)
    return paid
  }
}

/**
 * The ports of the services that a plan names. A service without any setting is the builtin model. A use of a service
 * that does not exist has no port, and says so when it is asked or checked.
 */
function assemble(
  plan: ModelPlan,
  connectionTo: ReturnType<typeof createConnections>,
  language?: () => Language,
): ModelService {
  const builtin = createBuiltinService(language)
  const { uses } = plan
  const chats = new Map<string, ChatModel>()

  function used(use: ModelUse): Used | null {
    const { service, model } = uses[use]
    const connection = connectionTo(service)
    return connection === undefined || model === null ? null : { connection, model }
  }

  /** The same model is the same object, so that its parts are made once. */
  function chat({ service, model }: ModelChoice): ChatModel {
    const key = JSON.stringify([service, model])
    const made = chats.get(key) ?? makeChat(service, model)
    chats.set(key, made)
    return made
  }

  function makeChat(service: string, model: string): ChatModel {
    if (serviceNamed(plan, service) === BUILTIN) return builtin
    const isUsual = service === uses.chat.service && model === uses.chat.model
    const contextTokens = isUsual ? plan.contextTokens : undefined
    return connectionTo(service)?.chat(model, contextTokens) ?? absent(service, model)
  }

  const usual = chat({ ...uses.chat, model: uses.chat.model ?? 'default' })
  const embedding = used('embedding')
  const embeddingPort = embedding?.connection.embedding(embedding.model)
  const utility = used('utility')
  const realtime = used('realtime')
  const sameAsCalls = uses.transcription.service === uses.realtime.service
  const transcription = (sameAsCalls && uses.transcription.model) || openAiDefaults.transcriptionModel
  return {
    text: usual.text,
    ...(usual.context ? { context: usual.context } : {}),
    get compaction() {
      return usual.compaction
    },
    chatModels(choice) {
      const all = [choice ? chat(choice) : usual, ...plan.fallback.map(chat)]
      return [...new Set(all)]
    },
    utility: utility?.connection.structured(utility.model) ?? null,
    structured: connectionTo(uses.utility.service)?.structured ?? null,
    get embedding() {
      return embeddingPort?.() ?? null
    },
    speech: speechOf(used('transcription'), used('speech'), plan.voice),
    realtime: realtime?.connection.realtime(realtime.model, transcription) ?? null,
    async check(signal) {
      const { service, model } = uses.chat
      const chosen = serviceNamed(plan, service)
      const checked =
        chosen === BUILTIN
          ? await builtin.check(signal)
          : await connectionTo(service)?.check(model, signal, plan.contextTokens)
      const steps = [...(checked?.steps ?? []), ...unknownServices(plan)]
      return { ok: steps.every(({ ok }) => ok), steps }
    },
  }
}

/** One port from the two halves, which may belong to two services. */
function speechOf(heard: Used | null, spoken: Used | null, voice = 'alloy'): SpeechModel | null {
  const ears = (heard ?? spoken)?.connection.speech({
    transcription: heard?.model ?? null,
    speech: null,
    voice,
  })
  const mouth = (spoken ?? heard)?.connection.speech({
    transcription: null,
    speech: spoken?.model ?? null,
    voice,
  })
  if (ears === undefined || mouth === undefined) return null
  return {
    ids: { transcription: ears.ids.transcription, speech: mouth.ids.speech },
    transcribe: ears.transcribe,
    speak: mouth.speak,
    stream: mouth.stream,
  }
}

/** The provider of a model whose service does not exist. */
const NO_PROVIDER = 'none'

/** What stands in for such a model. */
function absent(service: string, model: string): ChatModel {
  return {
    compaction: null,
    text: {
      id: { provider: NO_PROVIDER, model },
      // biome-ignore lint/correctness/useYield: it fails before its first word.
      async *respond() {
        throw new ModelError(
          'unavailable',
          english`There is no model service ${service}. Choose another in Settings.`,
        )
      },
    },
  }
}

function unknownServices(plan: ModelPlan) {
  const named = [
    ...modelUses.map((use) => [usesOfModels[use].service, plan.uses[use].service] as const),
    ...plan.fallback.map(({ service }) => ['CHAT_FALLBACK', service] as const),
  ]
  return named.flatMap(([setting, service]) => {
    if (serviceNamed(plan, service) !== undefined) return []
    const detail = `${setting} names ${service}, but there is no such service. Choose another in Settings.`
    return [{ name: 'service', ok: false, detail }]
  })
}

export type ModelHolder = ReturnType<typeof createModelHolder>

/**
 * The current model service, with every request paid except those of the builtin model. Requests in progress finish on
 * the previous one. Throws TypeError for an invalid base URL.
 */
export function createModelHolder(
  settings: ModelSettings,
  {
    pay,
    language,
    ...dependencies
  }: OpenAiDependencies & { readonly pay?: Pay; readonly language?: () => Language } = {},
) {
  const create = (wanted: ModelSettings) => {
    const plan = planOf(wanted)
    const connectionTo = createConnections(plan, dependencies, pay)
    return { plan, connectionTo, service: assemble(plan, connectionTo, language) }
  }
  let inForce = create(settings)
  return {
    current: () => inForce.service,
    /** Rebuilds the service if the settings changed; true if so. */
    configure(wanted: ModelSettings): boolean {
      if (JSON.stringify(planOf(wanted)) === JSON.stringify(inForce.plan)) return false
      inForce = create(wanted)
      return true
    },
    /** The model in use, for `/ready` and the UI. */
    answering: () => {
      const { id } = inForce.service.text
      return { ...id, builtin: id.provider === 'builtin' }
    },
    plan: () => inForce.plan,
    /** The kind of the service behind the name of a provider. */
    kindOf: (provider: string): ServiceKind =>
      inForce.plan.services.find(({ baseUrl }) => providerOf(baseUrl) === provider)?.kind ?? 'other',
    /** Whether a message may name this service. */
    knows: (service: string) => serviceNamed(inForce.plan, service) !== undefined,
    /** The connection to a service of the plan; undefined for the builtin model and for none. */
    connectionTo: (service: string) => inForce.connectionTo(service),
    /** A connection to a service that is not among the settings, to test it. */
    connect: (wanted: Parameters<typeof connect>[0]) => connect(wanted, dependencies),
  }
}
