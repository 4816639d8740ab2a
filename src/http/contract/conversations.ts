import { z } from '@hono/zod-openapi'
import { answer, tagged } from './describe.ts'
import { listQuery, nextCursor } from './list-query.ts'
import { pageQuerySchema, pageSchema } from './timeline.ts'

const { get, post } = tagged('Conversations')

const conversationSchema = z
  .object({
    id: z.string(),
    status: z.enum(['open', 'ended']),
    channels: z.array(z.enum(['chat', 'voice', 'sms'])),
    startedAt: z.string(),
    endedAt: z.string().nullable(),
    lastEventAt: z.string(),
    eventCount: z.int(),
    turnCount: z.int(),
  })
  .openapi('Conversation')

const params = z.object({ id: z.string() })

export const list = get('/api/conversations', {
  summary: 'List conversations, newest first',
  request: { query: z.object(listQuery(50, 200)) },
  responses: answer(
    z.object({ conversations: z.array(conversationSchema), nextCursor }),
    'Conversations',
    400,
  ),
})

export const one = get('/api/conversations/{id}', {
  summary: 'Get a conversation with its spans',
  request: { params },
  responses: answer(
    conversationSchema.extend({
      spans: z.array(
        z.object({
          id: z.string(),
          kind: z.string().nullable(),
          startSeq: z.int(),
          startedAt: z.string(),
          endedAt: z.string().nullable(),
          reason: z.string().nullable(),
          eventCount: z.int(),
        }),
      ),
    }),
    'The conversation',
    404,
  ),
})

export const end = post('/api/conversations/{id}/end', {
  summary: 'End a conversation for good',
  request: { params },
  responses: answer(conversationSchema, 'The ended conversation', 404, 409),
})

export const events = get('/api/conversations/{id}/events', {
  summary: 'Get a timeline page of a conversation',
  request: { params, query: pageQuerySchema },
  responses: answer(pageSchema, 'The page', 400, 404),
})
