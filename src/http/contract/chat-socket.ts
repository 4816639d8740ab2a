import { z } from '@hono/zod-openapi'
import { liveCallSchema } from './calls.ts'
import { messageFields } from './chat.ts'
import { refusals, tagged } from './describe.ts'
import { problemSchema } from './problem.ts'
import { eventSchema, pageSchema } from './timeline.ts'

const { get } = tagged('Chat')

const turnId = z.string()

/** Messages from the browser. */
export const clientMessageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('chat.message'),
    ...messageFields,
  }),
  z.object({
    type: z.literal('chat.stop'),
    turnId: turnId.optional().describe('Stops this turn only. Without it, the one that runs'),
  }),
  z.object({ type: z.literal('history.more'), cursor: z.string().max(64) }),
  z.object({ type: z.literal('conversation.end'), conversationId: z.string().max(200).optional() }),
])

export type ClientMessage = z.input<typeof clientMessageSchema>

/** Messages to the browser. */
export const serverMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('history.page'), mode: z.enum(['initial', 'prepend']), page: pageSchema }),
  z.object({ type: z.literal('chat.working'), turnId }),
  z.object({ type: z.literal('chat.delta'), turnId, text: z.string() }),
  z.object({
    type: z.literal('chat.response'),
    turnId,
    content: z.string(),
    conversationId: z.string().nullable(),
  }),
  z.object({ type: z.literal('chat.done'), turnId }),
  z.object({
    type: z.literal('chat.error'),
    turnId: turnId.nullable(),
    clientMessageId: z.string().nullable().describe('The id of the rejected message, if the client gave one'),
    problem: problemSchema,
  }),
  z.object({ type: z.literal('timeline.event'), event: eventSchema }),
  z
    .object({ type: z.literal('message.received'), turnId, clientMessageId: z.string() })
    .describe('The message with the id of this client is on the timeline, also if it was sent before'),
  z.object({
    type: z.literal('call.live'),
    call: liveCallSchema
      .nullable()
      .describe('The full state of the current call, at each change; null once it is over'),
  }),
])

export type ServerMessage = z.output<typeof serverMessageSchema>

export const socket = get('/chat', {
  summary: 'Chat over a WebSocket, with live events from every channel',
  description:
    'Clients send ChatClientMessage as JSON text, and the service ChatServerMessage. With `since`, the seq of the last ' +
    'event that the client has, the socket starts with the missed events instead of a page. A refused upgrade ' +
    'may have no body.',
  request: { query: z.object({ since: z.string().optional() }) },
  responses: { 101: { description: 'The socket is open' }, ...refusals(401, 403, 404) },
})
