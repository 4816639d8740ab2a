import * as z from 'zod'
import { english } from '../../language/message.ts'
import { ModelError, type Usage } from '../port.ts'
import { estimateTokens } from '../tokens.ts'
import { reportedFault } from './failures.ts'
import { redact } from './redact.ts'

export const tokens = z.int().min(0).catch(0)
/** Local servers may omit fields or the whole object. A missing or malformed count is 0. */
export const usageSchema = z
  .object({
    input_tokens: tokens,
    output_tokens: tokens,
    input_tokens_details: z.object({ cached_tokens: tokens }).nullish().catch(null),
  })
  .nullish()
  .catch(null)

const partSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  refusal: z.string().optional(),
})

/** An output item. Unknown fields are kept, so the item can be sent back unchanged. */
export const outputItemSchema = z.looseObject({
  type: z.string(),
  id: z.string().nullish(),
  status: z.string().nullish(),
  call_id: z.string().min(1).max(200).optional(),
  name: z.string().optional(),
  arguments: z.string().optional(),
  encrypted_content: z.string().nullish(),
  content: z.union([z.array(partSchema), z.string()]).nullish(),
})
export type OutputItem = z.output<typeof outputItemSchema>

const errorSchema = z.object({ code: z.string().nullish(), message: z.string().catch('') }).nullish()

/** The fields of a response that are used. */
export const responseSchema = z.object({
  id: z.string().nullish(),
  status: z.string().nullish(),
  output: z.array(outputItemSchema).catch([]),
  usage: usageSchema,
  error: errorSchema.catch(null),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish().catch(null),
})
export type ResponseAnswer = z.output<typeof responseSchema>

/** Throws ModelError `refused` if the model declined, APIError if the response failed, ZodError if tool calls are unusable. */
export function readAnswer(response: ResponseAnswer, secrets: readonly string[]) {
  if (response.error || response.status === 'failed') {
    throw reportedFault(response.error?.code, response.error?.message || 'the response failed')
  }
  const refusal = partsOf(response.output, 'refusal').join('\n')
  if (refusal) throw declined(refusal, secrets)
  const truncated = response.status === 'incomplete'
  if (truncated && response.incomplete_details?.reason === 'content_filter') throw filtered()
  return {
    text: partsOf(response.output, 'output_text').join('\n\n'),
    toolCalls: callsOf(response.output, truncated),
    // Truncated items cannot be continued.
    blob: truncated ? null : blobOf(response.output),
    truncated,
  }
}

export const declined = (refusal: string, secrets: readonly string[]) =>
  new ModelError('refused', english`The model declined to answer: ${redact(refusal, secrets)}`)

export const filtered = () =>
  new ModelError('refused', english`The content filter of the model service stopped the answer.`)

function partsOf(output: readonly OutputItem[], kind: 'output_text' | 'refusal'): string[] {
  return output.flatMap((item) => {
    if (item.type !== 'message') return []
    if (typeof item.content === 'string') return kind === 'output_text' ? [item.content] : []
    const parts = (item.content ?? []).filter(({ type }) => type === kind)
    const text = parts.map((part) => (kind === 'refusal' ? part.refusal : part.text) ?? '').join('')
    return text === '' ? [] : [text]
  })
}

/** The longest tool name that a fact can hold. */
export const MAX_NAME_CHARS = 100

/** Throws ZodError for duplicate call ids and unusable names. */
function callsOf(output: readonly OutputItem[], truncated: boolean) {
  const calls = output.flatMap((item) => {
    if (item.type !== 'function_call') return []
    if (truncated && item.status !== 'completed') return []
    const callId = item.call_id ?? item.id
    if (!callId || !item.name || item.name.length > MAX_NAME_CHARS) throw new z.ZodError([])
    return [{ callId, name: item.name, arguments: item.arguments ?? '{}' }]
  })
  if (new Set(calls.map(({ callId }) => callId)).size < calls.length) throw new z.ZodError([])
  return calls
}

/**
 * Null unless the portable form would lose something: reasoning with content, or unknown item types.
 * Reasoning without content is dropped, since it cannot be resolved under `store: false`.
 */
function blobOf(output: readonly OutputItem[]): string | null {
  const kept = output.filter((item) => item.type !== 'reasoning' || hasContent(item))
  const isPortable = kept.every(({ type }) => type === 'message' || type === 'function_call')
  return isPortable ? null : JSON.stringify(kept)
}

function hasContent({ encrypted_content, content }: OutputItem): boolean {
  return Boolean(encrypted_content) || (Array.isArray(content) && content.length > 0)
}

/** The usage that the service reports; estimated from what was sent and received if it reports none. */
export function toUsage(usage: z.output<typeof usageSchema>, sent: () => string, received: unknown): Usage {
  if (!usage) {
    const outputTokens = estimateTokens(JSON.stringify(received))
    return { inputTokens: estimateTokens(sent()), outputTokens, cachedTokens: 0 }
  }
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedTokens: usage.input_tokens_details?.cached_tokens ?? 0,
  }
}
