import { z } from '@hono/zod-openapi'
import { answer, body, refusals, tagged } from './describe.ts'
import { integerParam } from './list-query.ts'
import type { ProblemDocument } from './problem.ts'

const { get, post } = tagged('Speech')

/** The longest recording that is transcribed. At 16 kHz it fits into the body. */
export const MAX_RECORDING_SECONDS = 180

export const abilities = get('/api/speech', {
  summary: 'Get what the models can hear and say',
  responses: answer(
    z.object({
      talk: z
        .enum(['realtime', 'speech'])
        .nullable()
        .describe('What carries a talk: one model, or one that hears and one that speaks; null for nothing'),
      dictation: z.boolean(),
      readAloud: z.boolean(),
    }),
    'What there is a model for',
  ),
})

export const transcribe = post('/api/speech/transcriptions', {
  summary: 'Write down what was dictated',
  description: `A WAV file of 16-bit PCM, at most ${MAX_RECORDING_SECONDS} seconds long. It is kept nowhere.`,
  request: { body: body(z.object({ audioBase64: z.base64().min(4) })) },
  responses: answer(z.object({ text: z.string() }), 'The words', 400, 413, 429, 502, 503),
})

export const readReply = post('/api/timeline/events/{seq}/speech', {
  summary: 'Read a message of the delegate aloud',
  description: 'Streams a WAV file of 16-bit PCM at 24 kHz, mono, whose header does not know its length.',
  request: { params: z.object({ seq: integerParam(1, Number.MAX_SAFE_INTEGER) }) },
  responses: {
    200: {
      description: 'Speech',
      content: { 'audio/wav': { schema: z.string().openapi({ format: 'binary' }) } },
    },
    ...refusals(400, 404, 409, 429, 502, 503),
  },
})

/** Messages from the browser in a talk, besides its audio. */
export const talkMessageSchema = z.object({
  type: z.literal('talk.played'),
  mark: z.string().max(20),
})

/** Messages to the browser in a talk, besides the audio of the delegate. */
export type TalkServerMessage =
  | { readonly type: 'talk.started'; readonly callSid: string }
  /** The browser reports it as played once it has played the audio before it. */
  | { readonly type: 'talk.mark'; readonly mark: string }
  /** Drop all audio that was not played. */
  | { readonly type: 'talk.clear' }
  /** The talk does not begin. The socket closes. */
  | { readonly type: 'talk.refused'; readonly problem: ProblemDocument }

export const talkSocket = get('/api/talk', {
  summary: 'Talk over a WebSocket, as in a call',
  description:
    'Both sides send audio as binary messages: 16-bit PCM, little-endian, mono, at 24 kHz; the client begins once ' +
    'it got talk.started, and sends TalkClientMessage as JSON text for each talk.mark whose audio it has played. ' +
    'talk.clear drops what it has not played. talk.refused says why the talk does not begin. The call and its words ' +
    'are events like those of a phone call. Either side ends the talk by closing the socket.',
  responses: { 101: { description: 'The socket is open' }, ...refusals(401, 403, 404) },
})
