import type { AnswerOf } from '../api/routes.ts'
import { locale, msg } from '../design/msg.ts'

export type Services = AnswerOf<'/api/services'>
export type Service = Services['services'][number]
export type ServiceKind = Services['kinds'][number]
export type UsedModel = Services['uses'][number]
export type ModelChoice = { readonly service: string; readonly model: string }
export type OfferedModel = AnswerOf<'/api/services/{id}/models'>['models'][number]

/** What to test: a saved service, or an address that is not saved yet. */
export type Tried =
  | { readonly id: string }
  | { readonly kind: ServiceKind['kind']; readonly baseUrl: string; readonly apiKey?: string }

/** The service that needs no set-up, wherever a service is named. */
export const builtinId = 'builtin'
/** The service that the settings OPENAI_BASE_URL and OPENAI_API_KEY hold. */
export const mainId = 'main'
export const builtinModel = 'builtin-1'

export type UseRow = {
  readonly use: UsedModel['use']
  readonly title: string
  readonly about: string
  /** What happens without a model. */
  readonly without: string
  /** The settings that hold it. */
  readonly keys: readonly [service: string, model: string]
}

export const chatUse: UseRow = {
  use: 'chat',
  title: msg`Chat`,
  about: msg`Replies in the browser and by text message.`,
  without: msg`Messages fail, or go to the models below, until you choose another.`,
  keys: ['CHAT_SERVICE', 'CHAT_MODEL'],
}

/** What models are used for, in the order of the page. */
export const uses: readonly UseRow[] = [
  chatUse,
  {
    use: 'utility',
    title: msg`Background work`,
    about: msg`Learns from what you say. A small, cheap model is enough.`,
    without: msg`Learns from simple sentences only.`,
    keys: ['UTILITY_SERVICE', 'UTILITY_MODEL'],
  },
  {
    use: 'embedding',
    title: msg`Search by meaning`,
    about: msg`Finds memories that say the same in other words.`,
    without: msg`Finds the same words only.`,
    keys: ['EMBEDDING_SERVICE', 'EMBEDDING_MODEL'],
  },
  {
    use: 'realtime',
    title: msg`Phone calls`,
    about: msg`Listens and speaks in calls, and when you talk in the browser.`,
    without: msg`Calls then use transcription, the chat model and reading aloud.`,
    keys: ['REALTIME_SERVICE', 'REALTIME_MODEL'],
  },
  {
    use: 'transcription',
    title: msg`Transcription`,
    about: msg`Writes down what you dictate, and what is said in calls.`,
    without: msg`Nothing is written down.`,
    keys: ['TRANSCRIPTION_SERVICE', 'TRANSCRIPTION_MODEL'],
  },
  {
    use: 'speech',
    title: msg`Reading aloud`,
    about: msg`Reads replies aloud, and speaks in calls that have no model for phone calls.`,
    without: msg`Replies are text only.`,
    keys: ['SPEECH_SERVICE', 'SPEECH_MODEL'],
  },
]

/** Settings that the services section shows instead of a row each. */
export const settingsOfServices: ReadonlySet<string> = new Set([
  ...['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'MODEL_API', 'SERVICES', 'SERVICE_KEYS', 'CHAT_FALLBACK'],
  ...uses.flatMap(({ keys }) => keys),
])

/** The services that can be used: the main one is always listed, even if nothing is set up. */
export function setUpServices({ kinds, services }: Services): readonly Service[] {
  const needsKey = (service: Service) => kinds.some(({ kind, needsKey }) => kind === service.kind && needsKey)
  return services.filter((service) => service.id !== mainId || service.hasKey || !needsKey(service))
}

export function serviceTitle({ services }: Services, id: string): string {
  if (id === builtinId) return msg`Builtin`
  return services.find((service) => service.id === id)?.title ?? id
}

export const hostOf = (address: string): string => parsed(address)?.host ?? address

/** Whether an address leads to the machine that the service itself runs on. */
export function isLoopback(address: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(parsed(address)?.hostname ?? '')
}

function parsed(address: string): URL | null {
  return URL.canParse(address) ? new URL(address) : null
}

/** "128k" for a context of 131,072 tokens, and "200k" for one of 200,000. */
export function contextText(tokens: number | null): string {
  if (tokens === null) return ''
  if (tokens >= 1_000_000) return msg`${Math.round(tokens / 100_000) / 10}M tokens`
  return msg`${tokens % 1000 === 0 ? tokens / 1000 : Math.round(tokens / 1024)}k tokens`
}

/** Models for another purpose than to chat. */
const otherPurpose = /embed|rerank|whisper|tts|transcri|image|audio|realtime|moderation/i

/** The model to suggest for the chat: the one of the settings if it is listed, else the first that chats. */
export function suggestedModel(models: readonly OfferedModel[], current: string): string {
  const ids = models.map(({ id }) => id)
  const known = ids.find((id) => id === current || id === `models/${current}` || id === `${current}:latest`)
  return known ?? ids.find((id) => !otherPurpose.test(id)) ?? ids[0] ?? ''
}

export const byName = new Intl.Collator(locale, { numeric: true }).compare
