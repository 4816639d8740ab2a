import * as z from 'zod'

/** The largest frame that the provider has a reason to send; the socket's `maxPayload` is the same. */
export const MAX_FRAME_BYTES = 64 * 1024

const sid = z.string().min(1).max(100)
const schemas = {
  connected: z.object({ event: z.literal('connected'), protocol: z.string().optional() }),
  start: z.object({
    event: z.literal('start'),
    streamSid: sid,
    start: z.object({
      accountSid: sid,
      callSid: sid,
      streamSid: sid,
      mediaFormat: z.object({
        encoding: z.literal('audio/x-mulaw'),
        sampleRate: z.literal(8000),
        channels: z.literal(1),
      }),
      customParameters: z.record(z.string().max(500), z.string().max(500)).default({}),
    }),
  }),
  media: z.object({
    event: z.literal('media'),
    streamSid: sid,
    media: z.object({ timestamp: z.coerce.number().min(0), payload: z.base64() }),
  }),
  mark: z.object({
    event: z.literal('mark'),
    streamSid: sid,
    mark: z.object({ name: z.string().max(200) }),
  }),
  dtmf: z.object({
    event: z.literal('dtmf'),
    streamSid: sid,
    dtmf: z.object({ digit: z.string().max(4) }),
  }),
  stop: z.object({ event: z.literal('stop'), streamSid: sid }),
} as const

type Schemas = typeof schemas
export type MediaFrame = { [E in keyof Schemas]: z.output<Schemas[E]> }[keyof Schemas]

export type ParsedFrame =
  | { readonly status: 'frame'; readonly frame: MediaFrame }
  /** Well-formed, of an event that this build does not know. */
  | { readonly status: 'ignored'; readonly event: string }
  | { readonly status: 'refused'; readonly reason: 'too_large' | 'malformed' }

/** Parses one text frame of the provider's media stream. Never throws. Audio of any length is accepted. */
export function parseFrame(text: string): ParsedFrame {
  if (Buffer.byteLength(text) > MAX_FRAME_BYTES) return { status: 'refused', reason: 'too_large' }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { status: 'refused', reason: 'malformed' }
  }
  const event = typeof json === 'object' && json !== null && 'event' in json ? json.event : null
  if (event === 'media') {
    const frame = readMedia(json)
    if (frame) return { status: 'frame', frame }
  }
  if (typeof event !== 'string') return { status: 'refused', reason: 'malformed' }
  if (!isKnown(event)) return { status: 'ignored', event }
  const parsed = schemas[event].safeParse(json)
  return parsed.success ? { status: 'frame', frame: parsed.data } : { status: 'refused', reason: 'malformed' }
}

/** The frames that go out on one stream. */
export function streamFrames(streamSid: string) {
  return {
    media: (payload: string) => JSON.stringify({ event: 'media', streamSid, media: { payload } }),
    mark: (name: string) => JSON.stringify({ event: 'mark', streamSid, mark: { name } }),
    clear: () => JSON.stringify({ event: 'clear', streamSid }),
  }
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const DECIMAL = /^\d{1,12}$/

/**
 * The one frame that comes fifty times a second, on the way of the audio, checked by hand at a fraction of what
 * the schema costs in a cold cache. Null when it is anything but the usual; then the schema decides.
 */
function readMedia(json: unknown): Extract<MediaFrame, { event: 'media' }> | null {
  if (typeof json !== 'object' || json === null || !('streamSid' in json) || !('media' in json)) return null
  const { streamSid, media } = json
  if (typeof streamSid !== 'string' || streamSid === '' || streamSid.length > 100) return null
  if (typeof media !== 'object' || media === null) return null
  if (!('timestamp' in media) || !('payload' in media)) return null
  const { timestamp, payload } = media
  if (typeof timestamp !== 'string' || !DECIMAL.test(timestamp)) return null
  if (typeof payload !== 'string' || payload.length % 4 !== 0 || !BASE64.test(payload)) return null
  return { event: 'media', streamSid, media: { timestamp: Number(timestamp), payload } }
}

function isKnown(event: string): event is keyof Schemas {
  return Object.hasOwn(schemas, event)
}
