import * as z from 'zod'
import { parseJson } from '../../lib/parse-json.ts'

/** The socket's `maxPayload`. The provider has no reason to send larger frames. */
export const MAX_FRAME_BYTES = 64 * 1024

const sid = z.string().min(1).max(100)
const mediaFrame = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected'), protocol: z.string().optional() }),
  z.object({
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
  z.object({
    event: z.literal('media'),
    streamSid: sid,
    media: z.object({ timestamp: z.coerce.number().min(0), payload: z.base64() }),
  }),
  z.object({
    event: z.literal('mark'),
    streamSid: sid,
    mark: z.object({ name: z.string().max(200) }),
  }),
  z.object({
    event: z.literal('dtmf'),
    streamSid: sid,
    dtmf: z.object({ digit: z.string().regex(/^[0-9*#A-D]$/) }),
  }),
  z.object({ event: z.literal('stop'), streamSid: sid }),
])

export type MediaFrame = z.output<typeof mediaFrame>

/** Parses one text frame of the provider's media stream. Null if it is malformed or unknown. Never throws. */
export function parseFrame(text: string): MediaFrame | null {
  return mediaFrame.safeParse(parseJson(text)).data ?? null
}

/** Builds the outgoing frames of one stream. */
export function streamFrames(streamSid: string) {
  return {
    media: (payload: string) => JSON.stringify({ event: 'media', streamSid, media: { payload } }),
    mark: (name: string) => JSON.stringify({ event: 'mark', streamSid, mark: { name } }),
    clear: () => JSON.stringify({ event: 'clear', streamSid }),
  }
}
