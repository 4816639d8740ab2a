/** The answer to one request. All fields are optional: an empty reply is an empty answer. */
export type Reply = {
  /** A list is streamed with one delta for each entry. */
  readonly text?: string | readonly string[]
  /** Arguments other than strings are sent as JSON. */
  readonly toolCalls?: readonly ScriptedCall[]
  /** Adds a reasoning item with this encrypted content first. */
  readonly reasoning?: string
  /** Thoughts in plain words, as local models write them. Chat completions only. */
  readonly thoughts?: string
  readonly refusal?: string
  readonly incomplete?: 'max_output_tokens' | 'content_filter'
  readonly failed?: { readonly code: string; readonly message: string }
  readonly usage?: Partial<ScriptedUsage>
  readonly fault?: Fault
  /** Holds the stream before an event until the promise settles. */
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
 * A place in an answer: before the headers, or before an event, given by its index or as the first of its
 * type. An index past the end means the last event. An unstreamed answer counts as one event.
 */
export type At = 'headers' | number | `response.${string}`

export type Fault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly body: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Sends nothing more and keeps the connection open. */
  | { readonly kind: 'hang'; readonly at: At }
  /** Keeps sending bytes that never complete an event. */
  | { readonly kind: 'drip'; readonly at: At; readonly intervalMs: number }
  /** Breaks the connection. */
  | { readonly kind: 'cut'; readonly at: At }
  /** Ends the stream early but cleanly. */
  | { readonly kind: 'ends'; readonly at: At }
  | { readonly kind: 'malformed'; readonly at: At }
  /** Sends JSON that is not a documented event. */
  | { readonly kind: 'nonsense'; readonly at: At }
  /** Sends one event of at least `bytes` bytes. */
  | { readonly kind: 'huge'; readonly at: At; readonly bytes: number }
  | { readonly kind: 'error'; readonly at: At; readonly code: string; readonly message: string }

function status(
  code: number,
  error: { message: string; type: string; code: string | null; param?: string | null },
): Fault {
  return { kind: 'status', status: code, body: { error: { param: null, ...error } } }
}

/** The HTTP errors of the official service, with its texts. */
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
