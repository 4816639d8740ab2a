import * as z from 'zod'
import { issueText } from '../language/issue-text.ts'
import { english } from '../language/message.ts'
import { msg } from '../language/msg.ts'
import { FIRST_EVENT_SECONDS, modelApis, openAiDefaults } from '../model/openai/defaults.ts'
import { pricesSchema } from '../model/prices.ts'
import { backupSettings } from './backup-settings.ts'
import { deliverySettings } from './delivery-settings.ts'
import { proxyListSchema } from './proxy-list.ts'
import { RIGHTS } from './rights.ts'
import { serviceSettings } from './service-settings.ts'
import { type SettingDefinition, setting } from './setting.ts'
import {
  amountSchema,
  integerSchema,
  originSchema,
  phoneNumberSchema,
  phoneNumbersSchema,
  pinSchema,
  serviceUrlSchema,
  timezoneSchema,
  tokenSchema,
} from './setting-schemas.ts'

/** English and German, as in `src/language`; `browser` is that of each browser. */
const languageChoices = ['browser', 'en', 'de'] as const
const carriageChoices = ['auto', 'relay'] as const
/** Without a PIN, deeds are at most proposed. */
const rightsWithoutPin = ['read', 'note'] as const

/** All settings. This table drives validation, the API, the environment and the reference page. */
export const settingRegistry = {
  OPENAI_API_KEY: setting(tokenSchema, {
    group: 'model',
    title: english`API key`,
    default: null,
    secret: true,
    description: english`API key of the model service. Without a key and without OPENAI_BASE_URL, the builtin model answers.`,
  }),
  OPENAI_BASE_URL: setting(serviceUrlSchema, {
    group: 'model',
    title: english`Service address`,
    default: null,
    sensitive: true,
    description: english`Address of the main model service, if it is not OpenAI. It serves every use that names no other service, the realtime socket included.`,
  }),
  MODEL_API: setting(z.enum(modelApis), {
    group: 'model',
    title: english`API`,
    choices: modelApis,
    default: 'auto',
    description: english`API that chat and background work use: responses, or completions for a service with chat completions only. With auto, Delegate finds out.`,
  }),
  ...serviceSettings,
  CHAT_MODEL: setting(tokenSchema, {
    group: 'model',
    title: english`Chat model`,
    default: openAiDefaults.chatModel,
    description: english`Model that answers in chat and SMS. The default models are those of OpenAI; for another service, enter its own.`,
  }),
  CONTEXT_TOKENS: setting(integerSchema(2_000, 2_000_000), {
    group: 'model',
    title: english`Context of the chat model`,
    unit: english`tokens`,
    default: null,
    description: english`How many tokens fit into a request of the chat model. Empty asks the service. Below about 9,500, tools are described more briefly; below 8,000, instructions too.`,
  }),
  UTILITY_MODEL: setting(tokenSchema, {
    group: 'model',
    title: english`Utility model`,
    default: openAiDefaults.utilityModel,
    description: english`Smaller model for background work: memories and arbitration.`,
  }),
  EMBEDDING_MODEL: setting(tokenSchema, {
    group: 'model',
    title: english`Embedding model`,
    default: openAiDefaults.embeddingModel,
    description: english`Embedding model. With it, recall also finds the same thing in other words. What is said is sent to the model service.`,
  }),
  REALTIME_MODEL: setting(tokenSchema, {
    group: 'model',
    title: english`Model for calls`,
    default: openAiDefaults.realtimeModel,
    description: english`Speech-to-speech model for phone calls. Without one, calls use the transcription, chat and speech models.`,
  }),
  REALTIME_VOICE: setting(tokenSchema, {
    group: 'model',
    title: english`Voice`,
    default: 'marin',
    description: english`The delegate's voice on calls. Each model service has its own voices.`,
  }),
  TRANSCRIPTION_MODEL: setting(tokenSchema, {
    group: 'model',
    title: english`Transcription model`,
    default: openAiDefaults.transcriptionModel,
    description: english`Model that transcribes what you dictate and what callers say.`,
  }),
  SPEECH_MODEL: setting(tokenSchema, {
    group: 'model',
    title: english`Speech model`,
    default: openAiDefaults.speechModel,
    description: english`Model that reads replies aloud, and speaks on calls without a realtime model.`,
  }),
  MODEL_FIRST_EVENT_SECONDS: setting(integerSchema(5, 600), {
    group: 'model',
    title: english`Wait for the model`,
    unit: english`seconds`,
    default: FIRST_EVENT_SECONDS,
    description: english`How long the chat model may take to start its answer, in seconds. A slow local model may need more.`,
  }),
  ALLOWANCE_DAY: setting(amountSchema, {
    sensitive: true,
    group: 'money',
    title: english`Allowance for 24 hours`,
    unit: english`US dollars`,
    default: 20,
    description: english`What model requests, calls and texts may cost in any 24 hours. At 90 % background work stops; then the chat asks.`,
  }),
  ALLOWANCE_MONTH: setting(amountSchema, {
    sensitive: true,
    group: 'money',
    title: english`Allowance for 30 days`,
    unit: english`US dollars`,
    default: 100,
    description: english`The same for any 30 days.`,
  }),
  PRICES: setting(pricesSchema, {
    sensitive: true,
    group: 'money',
    title: english`Prices`,
    default: null,
    description: english`Prices that differ from the built-in list, in US dollars: for a million tokens, a minute, a text segment.`,
  }),
  COMPACT_THRESHOLD_TOKENS: setting(integerSchema(2_000, 2_000_000), {
    group: 'conversation',
    title: english`Compact the context at`,
    unit: english`tokens`,
    default: 100_000,
    description: english`Context size that triggers compaction, in tokens.`,
  }),
  CAPSULE_TRIGGER_TOKENS: setting(integerSchema(500, 2_000_000), {
    group: 'conversation',
    title: english`Write a capsule every`,
    unit: english`tokens`,
    default: 20_000,
    description: english`Tokens of replies after which a new capsule is written.`,
  }),
  SESSION_IDLE_MINUTES: setting(integerSchema(1, 1_440), {
    group: 'conversation',
    title: english`End an interaction after`,
    unit: english`minutes`,
    default: 30,
    description: english`Silence after which an interaction ends and memory learns from it, in minutes.`,
  }),
  TIMELINE_PAGE_EVENTS: setting(integerSchema(1, 5_000), {
    group: 'conversation',
    title: english`Events per page`,
    unit: english`events`,
    default: 500,
    description: english`Default number of events on a timeline page.`,
  }),
  LONG_ANSWER_CHARS: setting(integerSchema(160, 100_000), {
    group: 'conversation',
    title: english`Longest answer in the chat`,
    unit: english`characters`,
    default: 6_000,
    description: english`Length in characters above which an answer becomes a note that the reply links to.`,
  }),
  TELEPHONY_ACCOUNT_SID: setting(tokenSchema, {
    group: 'telephony',
    title: english`Account SID`,
    default: null,
    sensitive: true,
    description: english`SID of the account at the telephony provider.`,
  }),
  TELEPHONY_AUTH_TOKEN: setting(tokenSchema, {
    group: 'telephony',
    title: english`Auth token`,
    default: null,
    secret: true,
    description: english`Auth token of the account. It verifies the provider's webhooks and signs in to its API.`,
  }),
  TELEPHONY_API_KEY_SID: setting(tokenSchema, {
    group: 'telephony',
    title: english`API key SID`,
    default: null,
    sensitive: true,
    description: english`SID of the API key for calls from the browser.`,
  }),
  TELEPHONY_API_KEY_SECRET: setting(tokenSchema, {
    group: 'telephony',
    title: english`API key secret`,
    default: null,
    secret: true,
    description: english`Secret of that API key.`,
  }),
  TELEPHONY_APP_SID: setting(tokenSchema, {
    group: 'telephony',
    title: english`Application SID`,
    default: null,
    sensitive: true,
    description: english`SID of the provider's application for calls from the browser.`,
  }),
  TELEPHONY_PHONE_NUMBER: setting(phoneNumberSchema, {
    group: 'telephony',
    title: english`Delegate's number`,
    default: null,
    sensitive: true,
    description: english`The delegate's phone number.`,
  }),
  TELEPHONY_API_BASE_URL: setting(serviceUrlSchema, {
    group: 'telephony',
    title: english`API address`,
    default: null,
    sensitive: true,
    description: english`Another address for the provider's API, used for every call to it.`,
  }),
  PHONE_CARRIAGE: setting(z.enum(carriageChoices), {
    sensitive: true,
    group: 'telephony',
    title: english`Who listens and speaks in calls`,
    choices: carriageChoices,
    default: 'auto',
    description: english`Your models (auto), or the telephony provider (relay, Twilio ConversationRelay), so that any text model can take calls. The provider understands English only, hears the caller's words, and charges more for each minute. Accept its terms in its console first.`,
  }),
  GUEST_DAILY_MESSAGES: setting(integerSchema(0, 10_000), {
    group: 'telephony',
    title: english`Guest messages per day`,
    unit: english`messages`,
    default: 100,
    sensitive: true,
    description: english`Texts and calls accepted from guests in a day, from all numbers together. One number may use a quarter of them, or 3 if that is more. Callers who withhold their number count as one.`,
  }),
  PHONE_PIN: setting(pinSchema, {
    group: 'rights',
    title: english`PIN for calls`,
    default: null,
    secret: true,
    description: english`Four to twelve digits that you enter on the keypad in a call, followed by #. Never say them aloud. Three wrong entries end PIN entry for the call, ten for a day.`,
  }),
  RIGHTS_TEXTS: setting(z.enum(rightsWithoutPin), {
    sensitive: true,
    group: 'rights',
    title: english`Texts`,
    choices: rightsWithoutPin,
    default: 'note',
    description: english`What texts from your number may do. The sender of a text can be forged.`,
  }),
  RIGHTS_CALLS: setting(z.enum(rightsWithoutPin), {
    sensitive: true,
    group: 'rights',
    title: english`Calls`,
    choices: rightsWithoutPin,
    default: 'note',
    description: english`What calls from your number may do if it is fully attested: the carrier of the caller vouches for it.`,
  }),
  RIGHTS_CALLS_UNATTESTED: setting(z.enum(rightsWithoutPin), {
    sensitive: true,
    group: 'rights',
    title: english`Calls without attestation`,
    choices: rightsWithoutPin,
    default: 'note',
    description: english`What other calls from your number may do. It may be forged. If attestation fails, the caller is a guest.`,
  }),
  RIGHTS_CALLS_PIN: setting(z.enum(RIGHTS), {
    sensitive: true,
    group: 'rights',
    title: english`Calls with the PIN`,
    choices: RIGHTS,
    default: 'change',
    description: english`What calls from your number may do once the PIN is entered. You confirm each deed by pressing 1; the delegate tells you in its own words which.`,
  }),
  PUBLIC_URL: setting(originSchema, {
    group: 'service',
    title: english`Public URL`,
    default: null,
    sensitive: true,
    description: english`Origin of the service on the internet, like https://delegate.example.com.`,
  }),
  TRUSTED_PROXY: setting(proxyListSchema, {
    group: 'service',
    title: english`Trusted proxies`,
    default: null,
    sensitive: true,
    description: english`Addresses or networks of reverse proxies whose X-Forwarded-For is trusted, separated by commas.`,
  }),
  OWNER_PHONE_NUMBER: setting(phoneNumbersSchema, {
    group: 'owner',
    title: english`Your phone numbers`,
    default: null,
    sensitive: true,
    description: english`Your phone numbers, separated by commas. While unset, every caller is a guest.`,
  }),
  TIMEZONE: setting(timezoneSchema, {
    group: 'owner',
    title: english`Time zone`,
    default: 'UTC',
    description: english`Your time zone, as an IANA name like Europe/Berlin.`,
  }),
  LANGUAGE: setting(z.enum(languageChoices), {
    group: 'owner',
    title: english`Language`,
    choices: languageChoices,
    default: 'browser',
    // LANGUAGE is the system's: desktops set it to what gettext reads, like `en_US:en`.
    variable: 'DELEGATE_LANGUAGE',
    description: english`Language of the pages and of what Delegate writes and says on its own. With the browser's, texts and calls follow the page that you opened last. In the environment, this setting is called DELEGATE_LANGUAGE.`,
  }),
  ...deliverySettings,
  ...backupSettings,
}

type Registry = typeof settingRegistry
export type SettingKey = keyof Registry

/** The type of a setting's value; null only if it has no default. */
export type SettingValue<K extends SettingKey> = Registry[K]['default'] extends null
  ? z.output<Registry[K]['schema']> | null
  : z.output<Registry[K]['schema']>

/** A canonical value whose key the compiler does not know. */
export type AnySettingValue = string | number

/** In the order of the table. */
export const settingKeys: readonly SettingKey[] = Object.keys(settingRegistry).filter(isSettingKey)

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingRegistry, key)
}

/** The name of the setting's variable in the environment. */
export const variableOf = (key: SettingKey): string => settingRegistry[key].variable ?? key

/** Whether changing the setting needs a recent proof that the owner is there. */
export function isSensitive(key: string): boolean {
  return isSettingKey(key) && settingRegistry[key].sensitive
}

export type ParsedSetting =
  | { readonly ok: true; readonly value: AnySettingValue }
  | { readonly ok: false; readonly message: string }

/** Validates a value. The message says what the value must be, and never repeats it. */
export function parseSetting(key: SettingKey, input: unknown): ParsedSetting {
  const definition: SettingDefinition = settingRegistry[key]
  const parsed = definition.schema.safeParse(input)
  if (parsed.success) return { ok: true, value: parsed.data }
  const [issue] = parsed.error.issues
  return { ok: false, message: issue ? issueText(issue) : msg`is not valid` }
}
