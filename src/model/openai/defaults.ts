/** Used while OPENAI_BASE_URL is unset. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1'

/** Default models on OpenAI's own API. Compatible servers have no defaults. */
export const openAiDefaults = {
  chatModel: 'gpt-5.5',
  utilityModel: 'gpt-5.4-mini',
  embeddingModel: 'text-embedding-3-small',
  realtimeModel: 'gpt-realtime-2.1',
  transcriptionModel: 'gpt-transcribe',
  speechModel: 'gpt-4o-mini-tts',
} as const

/** Time limit for the first event of an answer. A local model needs it to read the prompt. */
export const FIRST_EVENT_SECONDS = 60
