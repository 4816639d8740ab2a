import { plural } from '../design/format.ts'

/** Names of the settings on the timeline. */
const names: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: 'model service key',
  OPENAI_BASE_URL: 'model service address',
  CHAT_MODEL: 'chat model',
  UTILITY_MODEL: 'utility model',
  EMBEDDING_MODEL: 'embedding model',
  REALTIME_MODEL: 'model for calls',
  REALTIME_VOICE: 'voice',
  TRANSCRIPTION_MODEL: 'transcription model',
  SPEECH_MODEL: 'speech model',
  MODEL_FIRST_EVENT_SECONDS: 'model timeout',
  COMPACT_THRESHOLD_TOKENS: 'compaction threshold',
  CAPSULE_TRIGGER_TOKENS: 'summary interval',
  SESSION_IDLE_MINUTES: 'idle time that ends an exchange',
  TIMELINE_PAGE_EVENTS: 'timeline page size',
  LONG_ANSWER_CHARS: 'length of a long answer',
  TELEPHONY_ACCOUNT_SID: 'telephony account',
  TELEPHONY_AUTH_TOKEN: 'telephony auth token',
  TELEPHONY_API_KEY_SID: 'telephony key',
  TELEPHONY_API_KEY_SECRET: 'telephony key secret',
  TELEPHONY_APP_SID: 'telephony application',
  TELEPHONY_PHONE_NUMBER: 'phone number of Delegate',
  TELEPHONY_API_BASE_URL: 'telephony service address',
  GUEST_DAILY_MESSAGES: 'daily limit for guests',
  PUBLIC_URL: 'public address',
  TRUSTED_PROXY: 'list of trusted proxies',
  OWNER_PHONE_NUMBER: 'list of your phone numbers',
  TIMEZONE: 'time zone',
  DELIVERY_CHANNEL: 'delivery channel',
  DELIVERY_WEBHOOK_URL: 'webhook address',
  DELIVERY_WEBHOOK_SECRET: 'webhook secret',
  COPILOT_WORKDIR: 'working directory for tasks',
  TASK_LIMIT: 'limit of concurrent tasks',
  TASK_TIMEOUT_MINUTES: 'time limit of a task',
  'memory-config': 'recall configuration',
}

/** For example "The time zone was changed". Counts them if more than three or if one has no name here. */
export function settingsChangedText(keys: readonly unknown[]): string {
  const known = keys.flatMap((key) => (typeof key === 'string' && names[key] ? [`the ${names[key]}`] : []))
  const were = keys.length === 1 ? 'was' : 'were'
  if (keys.length === 0) return 'Settings were changed'
  if (known.length < keys.length || known.length > 3)
    return `${plural(keys.length, 'setting')} ${were} changed`
  const list = new Intl.ListFormat('en', { type: 'conjunction' }).format(known)
  return `T${list.slice(1)} ${were} changed`
}
