import { z } from '@hono/zod-openapi'
import type { LiveCall } from './calls.ts'
import { messageFields } from './chat.ts'
import { refusals, tagged } from './describe.ts'
import type { ProblemDocument } from './problem.ts'
import type { TimelineEvent, TimelinePage } from './timeline.ts'

const { get } = tagged('Chat')

/** Messages from the browser. */
export const clientMessageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('chat.message'),
    ...messageFields,
  }),
  z.object({ type: z.literal('chat.stop') }),
  z.object({ type: z.literal('history.more'), cursor: z.string().max(64) }),
  z.object({ type: z.literal('conversation.end'), conversationId: z.string().max(200).optional() }),
])

export type ClientMessage = z.input<typeof clientMessageSchema>

/** Messages to the browser. */
export type ServerMessage =
  | { readonly type: 'history.page'; readonly mode: 'initial' | 'prepend'; readonly page: TimelinePage }
  | { readonly type: 'chat.working'; readonly turnId: string }
  | { readonly type: 'chat.delta'; readonly turnId: string; readonly text: string }
  | {
      readonly type: 'chat.response'
      readonly turnId: string
      readonly content: string
      readonly conversationId: string | null
    }
  | { readonly type: 'chat.done'; readonly turnId: string }
  | {
      readonly type: 'chat.error'
      readonly turnId: string | null
      /** The id of the rejected message, if the client gave one. */
      readonly clientMessageId: string | null
      readonly problem: ProblemDocument
    }
  | { readonly type: 'timeline.event'; readonly event: TimelineEvent }
  /** The full state of the current call, at each change; null once it is over. */
  | { readonly type: 'call.live'; readonly call: LiveCall | null }

export const socket = get('/chat', {
  summary: 'Chat over a WebSocket, with live events from every channel',
  description:
    'Clients send ChatClientMessage as JSON text. The service sends history.page, chat.working, chat.delta, ' +
    'chat.response, chat.done, chat.error, timeline.event and call.live. With `since`, the seq of the last ' +
    'event that the client has, the socket starts with the missed events instead of a page. A refused upgrade ' +
    'may have no body.',
  request: { query: z.object({ since: z.string().optional() }) },
  responses: { 101: { description: 'The socket is open' }, ...refusals(401, 403, 404) },
})
