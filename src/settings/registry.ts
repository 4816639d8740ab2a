import * as z from 'zod'
import { FIRST_EVENT_SECONDS, openAiDefaults } from '../model/openai/defaults.ts'
import { proxyListSchema } from './proxy-list.ts'
import {
  directorySchema,
  integerSchema,
  originSchema,
  phoneNumberSchema,
  phoneNumbersSchema,
  serviceUrlSchema,
  textSchema,
  timezoneSchema,
  tokenSchema,
  webhookUrlSchema,
} from './setting-schemas.ts'

export const settingGroups = ['model', 'telephony', 'owner', 'conversation', 'delivery', 'service'] as const

const deliveryChannels = ['chat', 'sms', 'webhook'] as const

type SettingSchema = z.ZodType<string | number>

export type SettingDefinition = {
  readonly schema: SettingSchema
  /** In force while neither the store nor the environment has a value; null means unset. */
  readonly default: string | number | null
  /** Encrypted at rest, and never given out again. */
  readonly secret: boolean
  /** Takes effect only after a restart. */
  readonly restart: boolean
  readonly group: (typeof settingGroups)[number]
  /** What a form calls it. */
  readonly title: string
  readonly description: string
  /** What a number counts. */
  readonly unit: string | null
  /** The only values that there are, where they are few. */
  readonly choices: readonly string[] | null
}

type Options<D> = {
  readonly group: SettingDefinition['group']
  readonly title: string
  readonly description: string
  readonly default: D
  readonly unit?: string
  readonly choices?: readonly string[]
  readonly secret?: boolean
  readonly restart?: boolean
}

function setting<const S extends SettingSchema, const D extends z.output<S> | null>(
  schema: S,
  options: Options<D>,
) {
  return { schema, secret: false, restart: false, unit: null, choices: null, ...options }
}

/**
 * Every setting there is. This one table drives validation, the API, the environment and the reference page:
 * a setting that is not here does not exist.
 */
export const settingRegistry = {
  OPENAI_API_KEY: setting(tokenSchema, {
    group: 'model',
    title: 'API key',
    default: null,
    secret: true,
    description:
      'Key of the model service. Without a key and without OPENAI_BASE_URL the builtin model answers.',
  }),
  OPENAI_BASE_URL: setting(serviceUrlSchema, {
    group: 'model',
    title: 'Address of the service',
    default: null,
    description: 'Another OpenAI-compatible service for every model call, the realtime socket included.',
  }),
  CHAT_MODEL: setting(tokenSchema, {
    group: 'model',
    title: 'Chat model',
    default: openAiDefaults.chatModel,
    description:
      'Model that answers in chat and SMS. The defaults of models are those of OpenAI; any other server needs names.',
  }),
  UTILITY_MODEL: setting(tokenSchema, {
    group: 'model',
    title: 'Utility model',
    default: openAiDefaults.utilityModel,
    description: 'Smaller model for what happens behind the conversation: memories and arbitration.',
  }),
  EMBEDDING_MODEL: setting(tokenSchema, {
    group: 'model',
    title: 'Embedding model',
    default: openAiDefaults.embeddingModel,
    description:
      'Model of the vectors by which recall also finds what says the same in other words. What is said is sent to the model service for it.',
  }),
  REALTIME_MODEL: setting(tokenSchema, {
    group: 'model',
    title: 'Model for calls',
    default: openAiDefaults.realtimeModel,
    description: 'Speech-to-speech model for phone calls.',
  }),
  REALTIME_VOICE: setting(tokenSchema, {
    group: 'model',
    title: 'Voice',
    default: 'marin',
    description: 'Voice that the delegate speaks with.',
  }),
  TRANSCRIPTION_MODEL: setting(tokenSchema, {
    group: 'model',
    title: 'Transcription model',
    default: openAiDefaults.transcriptionModel,
    description: 'Model that writes down what callers say.',
  }),
  SPEECH_MODEL: setting(tokenSchema, {
    group: 'model',
    title: 'Speech model',
    default: openAiDefaults.speechModel,
    description: 'Model that reads answers out on the walkie route.',
  }),
  MODEL_FIRST_EVENT_SECONDS: setting(integerSchema(5, 600), {
    group: 'model',
    title: 'Wait for the model',
    unit: 'seconds',
    default: FIRST_EVENT_SECONDS,
    description:
      'How long the chat model may take to begin its answer, in seconds. A slow local model may need more.',
  }),
  COMPACT_THRESHOLD_TOKENS: setting(integerSchema(2_000, 2_000_000), {
    group: 'conversation',
    title: 'Compact the context at',
    unit: 'tokens',
    default: 100_000,
    description: 'Context size at which it is compacted, in tokens.',
  }),
  CAPSULE_TRIGGER_TOKENS: setting(integerSchema(500, 2_000_000), {
    group: 'conversation',
    title: 'Write a capsule every',
    unit: 'tokens',
    default: 20_000,
    description: 'Tokens of replies since the last capsule, after which a new one is written.',
  }),
  SESSION_IDLE_MINUTES: setting(integerSchema(1, 1_440), {
    group: 'conversation',
    title: 'An exchange ends after',
    unit: 'minutes',
    default: 30,
    description: 'Silence after which an interaction is over and its words go to memory, in minutes.',
  }),
  TIMELINE_PAGE_EVENTS: setting(integerSchema(1, 5_000), {
    group: 'conversation',
    title: 'Events in a page',
    unit: 'events',
    default: 500,
    description: 'Events in a page of the timeline where the request names no limit.',
  }),
  LONG_ANSWER_CHARS: setting(integerSchema(160, 100_000), {
    group: 'conversation',
    title: 'Longest answer in the chat',
    unit: 'characters',
    default: 6_000,
    description: 'Length in characters over which an answer becomes a note, and the reply points to it.',
  }),
  TELEPHONY_ACCOUNT_SID: setting(tokenSchema, {
    group: 'telephony',
    title: 'Account SID',
    default: null,
    description: 'Account at the telephony provider.',
  }),
  TELEPHONY_AUTH_TOKEN: setting(tokenSchema, {
    group: 'telephony',
    title: 'Auth token',
    default: null,
    secret: true,
    description: "The account's auth token: verifies the provider's webhooks and signs in to its API.",
  }),
  TELEPHONY_API_KEY_SID: setting(tokenSchema, {
    group: 'telephony',
    title: 'API key SID',
    default: null,
    description: 'API key for calls from the browser.',
  }),
  TELEPHONY_API_KEY_SECRET: setting(tokenSchema, {
    group: 'telephony',
    title: 'API key secret',
    default: null,
    secret: true,
    description: 'Secret of that API key.',
  }),
  TELEPHONY_APP_SID: setting(tokenSchema, {
    group: 'telephony',
    title: 'Application SID',
    default: null,
    description: "The provider's application that calls from the browser go through.",
  }),
  TELEPHONY_PHONE_NUMBER: setting(phoneNumberSchema, {
    group: 'telephony',
    title: "Delegate's number",
    default: null,
    description: "The delegate's own number.",
  }),
  TELEPHONY_API_BASE_URL: setting(serviceUrlSchema, {
    group: 'telephony',
    title: 'Address of the API',
    default: null,
    description: "Another address for every call to the provider's API.",
  }),
  GUEST_DAILY_MESSAGES: setting(integerSchema(0, 10_000), {
    group: 'telephony',
    title: 'Guests a day',
    unit: 'messages',
    default: 100,
    description:
      'Texts and calls from strangers that are taken in a day, from all numbers together. One number may use a quarter of it, and 3 at least; callers who withhold their number count as one.',
  }),
  PUBLIC_URL: setting(originSchema, {
    group: 'service',
    title: 'Public URL',
    default: null,
    description:
      'Origin under which the service is reached from the internet, like https://delegate.example.com.',
  }),
  TRUSTED_PROXY: setting(proxyListSchema, {
    group: 'service',
    title: 'Trusted proxies',
    default: null,
    description:
      'Addresses or networks of reverse proxies, separated by commas, whose X-Forwarded-For is believed.',
  }),
  OWNER_PHONE_NUMBER: setting(phoneNumbersSchema, {
    group: 'owner',
    title: 'Your phone numbers',
    default: null,
    description:
      "The owner's phone numbers, separated by commas. While unset, everybody who calls is a guest.",
  }),
  TIMEZONE: setting(timezoneSchema, {
    group: 'owner',
    title: 'Time zone',
    default: 'UTC',
    description: "The owner's time zone, by its IANA name.",
  }),
  DELIVERY_CHANNEL: setting(z.enum(deliveryChannels), {
    group: 'delivery',
    title: 'Deliver outcomes by',
    choices: deliveryChannels,
    default: 'chat',
    description: 'How the outcome of a task reaches the owner unless the task says otherwise.',
  }),
  DELIVERY_WEBHOOK_URL: setting(webhookUrlSchema, {
    group: 'delivery',
    title: 'Webhook URL',
    default: null,
    description: 'Where outcomes are posted when they are delivered by webhook.',
  }),
  DELIVERY_WEBHOOK_SECRET: setting(textSchema, {
    group: 'delivery',
    title: 'Webhook secret',
    default: null,
    secret: true,
    description: 'Secret that those posts are signed with.',
  }),
  COPILOT_WORKDIR: setting(directorySchema, {
    group: 'delivery',
    title: 'Working directory',
    default: null,
    description:
      'Directory in which the coding assistant works, outside the data directory. While unset: beside it, DATA_DIR with -work at the end.',
  }),
  TASK_LIMIT: setting(integerSchema(1, 20), {
    group: 'delivery',
    title: 'Tasks at once',
    unit: 'tasks',
    default: 2,
    description: 'Tasks of the coding assistant that may run at once.',
  }),
  TASK_TIMEOUT_MINUTES: setting(integerSchema(1, 1_440), {
    group: 'delivery',
    title: 'A task is given up after',
    unit: 'minutes',
    default: 60,
    description: 'Time after which a task is given up, in minutes.',
  }),
}

type Registry = typeof settingRegistry
export type SettingKey = keyof Registry

/** What a setting yields: null only where it has no default. */
export type SettingValue<K extends SettingKey> = Registry[K]['default'] extends null
  ? z.output<Registry[K]['schema']> | null
  : z.output<Registry[K]['schema']>

/** A value in its canonical form, before its key is known to the compiler. */
export type AnySettingValue = string | number

/** In the order of the table. */
export const settingKeys: readonly SettingKey[] = Object.keys(settingRegistry).filter(isSettingKey)

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingRegistry, key)
}

export type ParsedSetting =
  | { readonly ok: true; readonly value: AnySettingValue }
  | { readonly ok: false; readonly message: string }

/** Checks a value for a setting. A refusal says what the value must be, and never repeats it. */
export function parseSetting(key: SettingKey, input: unknown): ParsedSetting {
  const definition: SettingDefinition = settingRegistry[key]
  const parsed = definition.schema.safeParse(input)
  if (parsed.success) return { ok: true, value: parsed.data }
  return { ok: false, message: parsed.error.issues[0]?.message ?? 'is not valid' }
}
