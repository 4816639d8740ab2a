import { plural } from '../view/format.ts'

/** What the timeline calls each setting; the service's own names are variables. */
const names: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: 'model service’s key',
  OPENAI_BASE_URL: 'model service’s address',
  CHAT_MODEL: 'chat model',
  UTILITY_MODEL: 'utility model',
  EMBEDDING_MODEL: 'embedding model',
  REALTIME_MODEL: 'model for calls',
  REALTIME_VOICE: 'voice',
  TRANSCRIPTION_MODEL: 'transcription model',
  SPEECH_MODEL: 'speech model',
  MODEL_FIRST_EVENT_SECONDS: 'wait for the model',
  COMPACT_THRESHOLD_TOKENS: 'size at which the context is compacted',
  CAPSULE_TRIGGER_TOKENS: 'pace of summaries',
  SESSION_IDLE_MINUTES: 'length of a pause that ends an exchange',
  TIMELINE_PAGE_EVENTS: 'size of a timeline page',
  LONG_ANSWER_CHARS: 'length of a long answer',
  TELEPHONY_ACCOUNT_SID: 'telephony account',
  TELEPHONY_AUTH_TOKEN: 'telephony auth token',
  TELEPHONY_API_KEY_SID: 'telephony key',
  TELEPHONY_API_KEY_SECRET: 'telephony key’s secret',
  TELEPHONY_APP_SID: 'telephony application',
  TELEPHONY_PHONE_NUMBER: 'phone number of Delegate',
  TELEPHONY_API_BASE_URL: 'telephony service’s address',
  GUEST_DAILY_MESSAGES: 'daily limit for guests',
  PUBLIC_URL: 'public address',
  TRUSTED_PROXY: 'list of trusted proxies',
  OWNER_PHONE_NUMBER: 'list of your phone numbers',
  TIMEZONE: 'time zone',
  DELIVERY_CHANNEL: 'way of delivery',
  DELIVERY_WEBHOOK_URL: 'webhook’s address',
  DELIVERY_WEBHOOK_SECRET: 'webhook’s secret',
  COPILOT_WORKDIR: 'working directory for tasks',
  TASK_LIMIT: 'limit of tasks at once',
  TASK_TIMEOUT_MINUTES: 'time limit of a task',
  'memory-config': 'way it recalls',
}

/** "The time zone was changed": more than three settings, or ones that have no name here, are counted. */
export function settingsChangedText(keys: readonly unknown[]): string {
  const known = keys.flatMap((key) => (typeof key === 'string' && names[key] ? [`the ${names[key]}`] : []))
  const were = keys.length === 1 ? 'was' : 'were'
  if (keys.length === 0) return 'Settings were changed'
  if (known.length < keys.length || known.length > 3)
    return `${plural(keys.length, 'setting')} ${were} changed`
  const list = new Intl.ListFormat('en', { type: 'conjunction' }).format(known)
  return `T${list.slice(1)} ${were} changed`
}
