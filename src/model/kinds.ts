import { english } from '../language/message.ts'
import { type ServiceKind, serviceKinds } from './words.ts'

export type KindOfService = {
  readonly title: string
  /** What it is, in a few words for the owner. */
  readonly about: string
  /** The address of its OpenAI-compatible API; null if every server has its own. */
  readonly baseUrl: string | null
  readonly needsKey: boolean
  /** Where the owner makes a key, or how to start the server. */
  readonly hint: string
  /** Where it lists its models, if not at `/models`: from the origin of the service. */
  readonly modelsPath?: string
  /** Where it says what it has loaded, and with how much context: from the origin of the service. */
  readonly loadedPath?: string
  /** The context of a model that it has not loaded yet, which it cuts longer prompts to. */
  readonly loadsTokens?: number
  /** The owner of models in its list, by which it is known at any address. */
  readonly owner?: string
  /** What its list of models needs besides the usual header. */
  readonly listHeaders?: (apiKey: string) => Readonly<Record<string, string | null>>
}

/** What differs between services. Code asks this table, and never for a kind by its name. */
export const kindsOfService: Readonly<Record<ServiceKind, KindOfService>> = {
  openai: {
    title: english`OpenAI`,
    about: english`GPT. Also for phone calls.`,
    baseUrl: 'https://api.openai.com/v1',
    needsKey: true,
    hint: english`Make a key at platform.openai.com/api-keys.`,
  },
  anthropic: {
    title: english`Anthropic`,
    about: english`Claude.`,
    baseUrl: 'https://api.anthropic.com/v1',
    needsKey: true,
    hint: english`Make a key at platform.claude.com, under API keys.`,
    // Its list belongs to the native API, which takes the key in a header of its own.
    modelsPath: '/v1/models?limit=1000',
    listHeaders: (apiKey) => ({
      Authorization: null,
      'x-api-key': apiKey,
      'anthropic-version': '2023-06-01',
    }),
  },
  gemini: {
    title: english`Gemini`,
    about: english`By Google.`,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    needsKey: true,
    hint: english`Make a key at aistudio.google.com/apikey.`,
  },
  openrouter: {
    title: english`OpenRouter`,
    about: english`Many models with one key.`,
    baseUrl: 'https://openrouter.ai/api/v1',
    needsKey: true,
    hint: english`Make a key at openrouter.ai/settings/keys.`,
  },
  ollama: {
    title: english`Ollama`,
    about: english`On your own machine, free.`,
    baseUrl: 'http://localhost:11434/v1',
    needsKey: false,
    hint: english`Start it with “ollama serve”, and get a model with “ollama pull”.`,
    loadedPath: '/api/ps',
    // Unless it has much memory or is set otherwise.
    loadsTokens: 4_096,
    owner: 'library',
  },
  lmstudio: {
    title: english`LM Studio`,
    about: english`On your own machine, free.`,
    baseUrl: 'http://localhost:1234/v1',
    needsKey: false,
    hint: english`Start its server in the Developer tab, or with “lms server start”.`,
    // Unlike /v1/models, it tells the context length.
    modelsPath: '/api/v0/models',
  },
  other: {
    title: english`Other`,
    about: english`Any OpenAI-compatible server.`,
    baseUrl: null,
    needsKey: false,
    hint: english`Any server with an OpenAI-compatible API. Its address often ends in /v1.`,
  },
}

/** The kind that an address belongs to. A local server is known by its usual port, whatever its machine is called. */
export function kindOfAddress(baseUrl: string): ServiceKind {
  const { origin, port } = new URL(baseUrl)
  const known = serviceKinds.find((kind) => {
    const { baseUrl: address, needsKey } = kindsOfService[kind]
    if (address === null) return false
    const usual = new URL(address)
    return needsKey ? usual.origin === origin : usual.port === port
  })
  return known ?? 'other'
}

/** What is known of a service by its kind, or by the owner of its models. */
export function kindOfOwner(kind: ServiceKind, owner: string | null): KindOfService {
  const known = Object.values(kindsOfService).find((each) => each.owner !== undefined && each.owner === owner)
  return known ?? kindsOfService[kind]
}
