/** Used while OPENAI_BASE_URL is unset. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1'

/** Whether an address is OpenAI's own. */
export const isOpenAi = (baseUrl: string): boolean => new URL(baseUrl).host === new URL(OPENAI_BASE_URL).host

/** The name of the provider in facts: OpenAI, or the host of another service. */
export const providerOf = (baseUrl: string): string =>
  isOpenAi(baseUrl) ? 'openai' : new URL(baseUrl).host.slice(0, 100)

/** Default models on OpenAI's own API. Compatible servers have no defaults. */
export const openAiDefaults = {
  chatModel: 'gpt-5.5',
  utilityModel: 'gpt-5.4-mini',
  embeddingModel: 'text-embedding-3-small',
  realtimeModel: 'gpt-realtime-2.1',
  transcriptionModel: 'gpt-transcribe',
  speechModel: 'gpt-4o-mini-tts',
} as const

/** The API that answers come through. `auto` tries the Responses API and falls back to chat completions. */
export const modelApis = ['auto', 'responses', 'completions'] as const
export type ModelApi = (typeof modelApis)[number]

/** Time limit for the first event of an answer. A local model needs it to read the prompt. */
export const FIRST_EVENT_SECONDS = 60
