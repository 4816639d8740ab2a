/** What the double answers to one request. Everything is optional: an empty reply is an empty answer. */
export type Reply = {
  /** A list is streamed as so many deltas. */
  readonly text?: string | readonly string[]
  /** Arguments that are no string are sent as JSON. */
  readonly toolCalls?: readonly ScriptedCall[]
  /** A reasoning item with this encrypted content comes first. */
  readonly reasoning?: string
  readonly refusal?: string
  readonly incomplete?: 'max_output_tokens' | 'content_filter'
  readonly failed?: { readonly code: string; readonly message: string }
  readonly usage?: Partial<ScriptedUsage>
  readonly fault?: Fault
  /** Holds the stream before an event until the test lets it go on. */
  readonly pause?: { readonly at: At; readonly until: Promise<unknown> }
}

export type ScriptedCall = { readonly name: string; readonly arguments: unknown; readonly callId?: string }

export type ScriptedUsage = {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly reasoningTokens: number
}

/**
 * A place in an answer: before anything is sent, or before an event, by its number from 0 or by the first of its
 * type. A number past the end means the last event. An answer in one piece counts as one event.
 */
export type At = 'headers' | number | `response.${string}`

export type Fault =
  /** An HTTP error in place of an answer. */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly body: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Nothing more comes, and the connection stays open. */
  | { readonly kind: 'hang'; readonly at: At }
  /** Bytes keep coming that never make an event. */
  | { readonly kind: 'drip'; readonly at: At; readonly intervalMs: number }
  /** The connection breaks. */
  | { readonly kind: 'cut'; readonly at: At }
  /** The stream ends early, in good order. */
  | { readonly kind: 'ends'; readonly at: At }
  /** Something that is no JSON. */
  | { readonly kind: 'malformed'; readonly at: At }
  /** JSON that is none of the documented events. */
  | { readonly kind: 'nonsense'; readonly at: At }
  /** So many bytes of one event. */
  | { readonly kind: 'huge'; readonly at: At; readonly bytes: number }
  /** An `error` event. */
  | { readonly kind: 'error'; readonly at: At; readonly code: string; readonly message: string }

function status(
  code: number,
  error: { message: string; type: string; code: string | null; param?: string | null },
): Fault {
  return { kind: 'status', status: code, body: { error: { param: null, ...error } } }
}

/** The HTTP errors of the official service, in its words. */
export const httpFaults = {
  unauthorised: (key = 'sk-…') =>
    status(401, {
      message: `Incorrect API key provided: ${key}.`,
      type: 'invalid_request_error',
      code: 'invalid_api_key',
    }),
  rateLimited: (retryAfter?: string): Fault => ({
    kind: 'status',
    status: 429,
    body: {
      error: { message: 'Rate limit reached.', type: 'requests', param: null, code: 'rate_limit_exceeded' },
    },
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
  }),
  outOfQuota: () =>
    status(429, {
      message: 'You exceeded your current quota, please check your plan and billing details.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
  serverError: () =>
    status(500, {
      message: 'The server had an error while processing your request.',
      type: 'server_error',
      code: null,
    }),
  contextTooLong: () =>
    status(400, {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      param: 'input',
    }),
  badRequest: (message: string, param: string | null = null, code: string | null = null) =>
    status(400, { message, type: 'invalid_request_error', code, param }),
  notFound: (message = 'Not Found') => status(404, { message, type: 'invalid_request_error', code: null }),
} as const
