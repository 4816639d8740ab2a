import type { RealtimeClientEvent } from 'openai/resources/realtime/realtime'
import * as z from 'zod'

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
  input_token_details: z.object({ cached_tokens: tokens }).optional(),
})
const outputItem = z.object({
  id: id.optional(),
  type: z.string(),
  status: z.string().optional(),
  call_id: id.optional(),
  name: z.string().max(100).optional(),
  arguments: z.string().optional(),
})

/** The server events (GA names) that a call uses. Others are ignored, because the service adds new types. */
const schemas = {
  'session.created': z.object({ type: z.literal('session.created'), session }),
  'session.updated': z.object({ type: z.literal('session.updated'), session }),
  'input_audio_buffer.speech_started': z.object({
    type: z.literal('input_audio_buffer.speech_started'),
  }),
  'input_audio_buffer.speech_stopped': z.object({ type: z.literal('input_audio_buffer.speech_stopped') }),
  'input_audio_buffer.committed': z.object({
    type: z.literal('input_audio_buffer.committed'),
    item_id: id,
    previous_item_id: previousItem,
  }),
  'conversation.item.added': z.object({
    type: z.literal('conversation.item.added'),
    item: z.object({ id, type: z.string() }),
    previous_item_id: previousItem,
  }),
  'conversation.item.input_audio_transcription.completed': z.object({
    type: z.literal('conversation.item.input_audio_transcription.completed'),
    item_id: id,
    transcript: z.string(),
  }),
  'conversation.item.input_audio_transcription.failed': z.object({
    type: z.literal('conversation.item.input_audio_transcription.failed'),
    item_id: id,
  }),
  'response.created': z.object({ type: z.literal('response.created'), response: z.object({ id }) }),
  'response.output_item.added': z.object({
    type: z.literal('response.output_item.added'),
    response_id: id,
    item: z.object({ id: id.optional(), type: z.string() }),
  }),
  'response.output_audio.delta': z.object({
    type: z.literal('response.output_audio.delta'),
    ...ofItem,
    delta: z.base64(),
  }),
  'response.output_audio.done': z.object({ type: z.literal('response.output_audio.done'), ...ofItem }),
  'response.output_audio_transcript.delta': z.object({
    type: z.literal('response.output_audio_transcript.delta'),
    ...ofItem,
    delta: z.string(),
  }),
  'response.output_audio_transcript.done': z.object({
    type: z.literal('response.output_audio_transcript.done'),
    ...ofItem,
    transcript: z.string(),
  }),
  'response.done': z.object({
    type: z.literal('response.done'),
    response: z.object({
      id,
      status: z.enum(['completed', 'cancelled', 'failed', 'incomplete', 'in_progress']),
      output: z.array(outputItem).default([]),
      usage: usage.nullish(),
    }),
  }),
  error: z.object({
    type: z.literal('error'),
    error: z.object({
      code: z.string().nullish(),
      message: z.string(),
      event_id: z.string().nullish(),
    }),
  }),
} as const

const typedEvent = z.object({ type: z.string() })

type Schemas = typeof schemas
export type ServerEvent = { [T in keyof Schemas]: z.output<Schemas[T]> }[keyof Schemas]

export type ParsedServerEvent =
  | { readonly status: 'event'; readonly event: ServerEvent }
  /** Well-formed, but of a type that calls do not use. */
  | { readonly status: 'ignored'; readonly type: string }
  | { readonly status: 'malformed'; readonly detail: string }

/** Parses one text frame of the realtime service. Never throws. */
export function parseServerEvent(text: string): ParsedServerEvent {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return { status: 'malformed', detail: String(error) }
  }
  const typed = typedEvent.safeParse(json)
  if (!typed.success) return { status: 'malformed', detail: 'no type' }
  const { type } = typed.data
  if (!isKnown(type)) return { status: 'ignored', type }
  const parsed = schemas[type].safeParse(json)
  if (!parsed.success) return { status: 'malformed', detail: `${type}: ${z.prettifyError(parsed.error)}` }
  return { status: 'event', event: parsed.data }
}

function isKnown(type: string): type is keyof Schemas {
  return Object.hasOwn(schemas, type)
}
