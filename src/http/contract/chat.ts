import { z } from '@hono/zod-openapi'
import { modelChoiceSchema } from '../../model/words.ts'
import { answer, body, refusals, tagged } from './describe.ts'

const { post } = tagged('Chat')

export const MAX_MESSAGE_CHARS = 100_000
/** Also the limit of the event. */
const MAX_PASTED_RANGES = 100

/** The tokens that requests to the model took. */
export const tokenCounts = { inputTokens: z.int(), outputTokens: z.int(), cachedTokens: z.int() }

const replySchema = z.object({
  turnId: z.string(),
  conversationId: z.string(),
  spanId: z.string(),
  reply: z.object({ text: z.string() }),
  usage: z.object(tokenCounts),
})

/** A message of the owner. */
export const messageFields = {
  content: z.string().trim().min(1).max(MAX_MESSAGE_CHARS),
  clientMessageId: z.string().min(1).max(200).optional(),
  pasted: z
    .array(z.tuple([z.int().min(0), z.int().min(0)]))
    .max(MAX_PASTED_RANGES)
    .optional()
    .openapi({
      description:
        'The parts of `content` that were pasted: start and end in UTF-16 code units. They may be the words of others, so they cannot ask for anything that needs your authority.',
    }),
  replaces: z.string().min(1).max(200).optional().openapi({
    description:
      'The turn of your last message, whose place this one takes: the turn leaves the context of the model, and stays on the timeline. With the same words, the message is answered again. What the turn did is not undone.',
  }),
  model: modelChoiceSchema.optional().openapi({
    description:
      'The model that answers this message, by the id of its service. The fallback applies after it.',
  }),
}

export const say = post('/api/chat', {
  summary: 'Send a message and wait for the reply',
  description:
    'With `Accept: text/event-stream`, the turn arrives as server-sent events: chat.working, chat.delta, ' +
    'chat.response, chat.error, chat.done. Repeating a `clientMessageId` returns the first outcome and runs nothing twice.',
  request: {
    body: body(z.object(messageFields)),
  },
  responses: {
    200: {
      description: 'The reply',
      content: { 'application/json': { schema: replySchema }, 'text/event-stream': { schema: z.string() } },
    },
    ...refusals(400, 404, 409, 429, 500, 502, 503),
  },
})

export const stop = post('/api/chat/stop', {
  summary: 'Stop the running turn; the reply so far is kept',
  responses: answer(z.object({ stopped: z.boolean() }), 'Whether a turn was running'),
})
