import type { RealtimeClientEvent } from 'openai/resources/realtime/realtime'
import * as z from 'zod'
import { parseJson } from '../../lib/parse-json.ts'

/** Events to the realtime service (GA), typed by the SDK. */
export type ClientEvent = RealtimeClientEvent

const id = z.string().min(1).max(200)
const previousItem = id.nullish().transform((value) => value ?? null)
const ofItem = { response_id: id, item_id: id, content_index: z.number().default(0) }
const format = z.object({ format: z.object({ type: z.string() }).optional() }).optional()
const session = z.object({
  expires_at: z.number().optional(),
  audio: z.object({ input: format, output: format }).optional(),
})
const tokens = z.int().min(0).default(0)
const usage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  input_token_details: z
    .object({
      cached_tokens: tokens,
      audio_tokens: tokens,
      cached_tokens_details: z.object({ audio_tokens: tokens }).optional(),
    })
    .optional(),
  output_token_details: z.object({ audio_tokens: tokens }).optional(),
})
const outputItem = z.object({
  id: id.optional(),
  type: z.string(),
  status: z.string().optional(),
  call_id: id.optional(),
  name: z.string().max(100).optional(),
  arguments: z.string().optional(),
})

const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape })

/** The server events (GA names) that a call uses. Others are ignored, because the service adds new types. */
const serverEvent = z.discriminatedUnion('type', [
  event('session.updated', { session }),
  event('input_audio_buffer.speech_started', {}),
  event('input_audio_buffer.speech_stopped', {}),
  event('input_audio_buffer.committed', { item_id: id, previous_item_id: previousItem }),
  event('conversation.item.added', {
    item: z.object({ id, type: z.string() }),
    previous_item_id: previousItem,
  }),
  event('conversation.item.input_audio_transcription.completed', { item_id: id, transcript: z.string() }),
  event('conversation.item.input_audio_transcription.failed', { item_id: id }),
  event('response.created', { response: z.object({ id }) }),
  event('response.output_item.added', {
    response_id: id,
    item: z.object({ id: id.optional(), type: z.string() }),
  }),
  event('response.output_audio.delta', { ...ofItem, delta: z.base64() }),
  event('response.output_audio.done', ofItem),
  event('response.output_audio_transcript.delta', { ...ofItem, delta: z.string() }),
  event('response.output_audio_transcript.done', { ...ofItem, transcript: z.string() }),
  event('response.done', {
    response: z.object({
      id,
      status: z.enum(['completed', 'cancelled', 'failed', 'incomplete', 'in_progress']),
      status_details: z
        .object({
          error: z.object({ code: z.string().nullish() }).nullish().catch(null),
          reason: z.string().nullish().catch(null),
        })
        .nullish()
        .catch(null),
      output: z.array(outputItem).default([]),
      usage: usage.nullish(),
    }),
  }),
  event('error', {
    error: z.object({ code: z.string().nullish(), message: z.string(), event_id: z.string().nullish() }),
  }),
])

const typedEvent = z.object({ type: z.string() })
const known = new Set<string>(serverEvent.options.map(({ shape }) => shape.type.value))

export type ServerEvent = z.output<typeof serverEvent>

export type ParsedServerEvent =
  | { readonly status: 'event'; readonly event: ServerEvent }
  /** Well-formed, but of a type that calls do not use. */
  | { readonly status: 'ignored'; readonly type: string }
  | { readonly status: 'malformed'; readonly detail: string }

/** Parses one text frame of the realtime service. Never throws. */
export function parseServerEvent(text: string): ParsedServerEvent {
  const json = parseJson(text)
  const typed = typedEvent.safeParse(json)
  if (!typed.success) return { status: 'malformed', detail: 'no JSON with a type' }
  const { type } = typed.data
  if (!known.has(type)) return { status: 'ignored', type }
  const parsed = serverEvent.safeParse(json)
  if (!parsed.success) return { status: 'malformed', detail: `${type}: ${z.prettifyError(parsed.error)}` }
  return { status: 'event', event: parsed.data }
}
