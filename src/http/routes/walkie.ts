import { z } from '@hono/zod-openapi'
import { streamSSE } from 'hono/streaming'
import { createLogLines, logLevels } from '../../lib/log-lines.ts'
import { ModelError } from '../../model/port.ts'
import { MAX_MESSAGE_CHARS } from '../contract/chat.ts'
import { answer, body, done, eventStream, tagged } from '../contract/describe.ts'
import { lineSchema } from '../contract/logs.ts'
import type { RouteDeps } from '../features.ts'
import { goneSignal, type Routes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'
import { turnRefusal } from './chat.ts'
import { followLines } from './logs.ts'
import { askSpeech } from './speech.ts'

const { get, post } = tagged('Development')

const VOICE_PATH = '/_dev/walkie/voice'
const KEPT_LINES = 500

const voice = post(VOICE_PATH, {
  summary: 'Send a recorded utterance; get its transcript and the reply, written and spoken',
  request: {
    body: body(
      z.object({
        audioBase64: z.base64().min(4),
        format: z.enum(['wav', 'mp3', 'webm', 'ogg']),
      }),
    ),
  },
  responses: answer(
    z.object({
      turnId: z.string(),
      conversationId: z.string(),
      transcript: z.string(),
      reply: z.object({
        text: z.string(),
        audioBase64: z.string().nullable().describe('Null if speech synthesis failed'),
        format: z.string().nullable(),
      }),
    }),
    'The transcript and the reply',
    400,
    429,
    500,
    502,
    503,
  ),
})

const report = post('/_dev/walkie/logs', {
  summary: 'Log a line from a device under development',
  request: {
    body: body(
      z.object({
        level: z.enum(logLevels).default('info'),
        message: z.string().min(1).max(2_000),
        fields: z.record(z.string(), z.unknown()).default({}),
      }),
    ),
  },
  responses: done('Kept in memory', 400),
})

const list = get('/_dev/walkie/logs', {
  summary: 'List the newest lines from devices under development',
  responses: answer(
    z.object({ lines: z.array(lineSchema).readonly(), dropped: z.int() }),
    'Lines, oldest first',
  ),
})

const stream = get('/_dev/walkie/logs/stream', {
  summary: 'Stream the lines from devices under development',
  responses: { 200: eventStream('Server-sent events: `line` with a log line') },
})

/** Voice without a phone, for devices under development. Mounted only with `DEV_ROUTES=1`. */
export function walkieRoutes(
  routes: Routes,
  { agent: { chat }, model, stopping, ending, nowMs }: RouteDeps,
): void {
  const lines = createLogLines(KEPT_LINES)

  routes.openapi(voice, async (c) => {
    const { audioBase64, format } = c.req.valid('json')
    const signal = AbortSignal.any([goneSignal(c), ending])
    const speech = model().speech
    if (speech === null) throw new Refusal(503, 'no_speech_model', 'No speech model is set up.')
    const heard = await askSpeech(() => speech.transcribe(Buffer.from(audioBase64, 'base64'), format, signal))
    const transcript = heard.trim().slice(0, MAX_MESSAGE_CHARS)
    if (transcript === '') throw new Refusal(400, 'nothing_heard', 'The recording contains no speech.')
    const message = await chat.receive(transcript, undefined, { isSpoken: true })
    const outcome = await chat.outcomeOf(message, signal)
    if (outcome.status === 'failed') throw turnRefusal(outcome)
    const spoken = await spokenOrNull(() => speech.speak(outcome.text, signal))
    const { turnId, conversationId } = message
    const reply = {
      text: outcome.text,
      audioBase64: spoken ? Buffer.from(spoken.audio).toString('base64') : null,
      format: spoken?.format ?? null,
    }
    return c.json({ turnId, conversationId, transcript, reply }, 200)
  })

  routes.openapi(report, (c) => {
    lines.add({ at: new Date(nowMs()).toISOString(), ...c.req.valid('json') })
    return c.body(null, 204)
  })
  routes.openapi(list, (c) => {
    const page = lines.read({ limit: KEPT_LINES, minLevel: 'trace', after: null })
    return c.json({ lines: page.lines, dropped: page.dropped }, 200)
  })
  routes.openAPIRegistry.registerPath(stream)
  routes.get('/_dev/walkie/logs/stream', (c) =>
    streamSSE(c, (stream) => followLines(c, stream, lines, stopping, null, 'trace')),
  )
}

/** Null if speech synthesis fails: the turn has run, so its text is still returned. */
async function spokenOrNull<T>(speak: () => Promise<T>): Promise<T | null> {
  try {
    return await speak()
  } catch (error) {
    if (error instanceof ModelError) return null
    throw error
  }
}
