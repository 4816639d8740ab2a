/** OpenAI's own API, which is used while OPENAI_BASE_URL is unset. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1'

/** The models of OpenAI's own API that are used where the settings name none. A compatible server has no defaults. */
export const openAiDefaults = {
  chatModel: 'gpt-5.5',
  utilityModel: 'gpt-5.4-mini',
  embeddingModel: 'text-embedding-3-small',
  realtimeModel: 'gpt-realtime-2.1',
  transcriptionModel: 'gpt-transcribe',
  speechModel: 'gpt-4o-mini-tts',
} as const

/** How long the first event of an answer may take: longer than any hosted model needs, and a local one for its prompt. */
export const FIRST_EVENT_SECONDS = 60
