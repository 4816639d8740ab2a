import { z } from '@hono/zod-openapi'
import { memoryKinds } from '../../../ledger/events/memory.ts'
import { english } from '../../language/message.ts'
import { memoryConfigChangeSchema, memoryConfigSchema } from '../../memory/config.ts'
import { answer, body, created, done, tagged } from './describe.ts'
import { listQuery, nextCursor } from './list-query.ts'

const { del, get, post, put } = tagged('Memories')

const memorySchema = z.object({
  id: z.string(),
  text: z.string(),
  kind: z.enum(memoryKinds),
  /** `provisional`: kept, but not taken as a fact until confirmed. */
  status: z.enum(['active', 'contested', 'provisional']),
  subject: z.string(),
  slot: z.string(),
  value: z.string(),
  quote: z.string(),
  /** Other words by which recall finds it. Absent if there are none. */
  keywords: z.array(z.string()).optional(),
  /** Absent unless it is pinned. */
  pinned: z.boolean().optional(),
  /** `owner`: written by hand on the page. Absent otherwise. */
  by: z.literal('owner').optional(),
  /** Some of the words were pasted, so they may be those of others. Absent otherwise. */
  pasted: z.boolean().optional(),
  strength: z.number(),
  reinforcements: z.int(),
  createdAt: z.string(),
  lastReinforcedAt: z.string().nullable(),
  lastSurfacedAt: z.string().nullable(),
  eventTime: z.string().nullable(),
  validFrom: z.string(),
  validUntil: z.string().nullable(),
  contestedWith: z.array(z.string()),
  sources: z.array(
    z.object({
      seq: z.int(),
      conversationId: z.string().nullable(),
      importedId: z.string().optional().describe('The imported conversation that it comes from'),
    }),
  ),
})

export type Memory = z.output<typeof memorySchema>

const memoryListSchema = z.object({
  memories: z.array(memorySchema),
  count: z.int(),
  nextCursor,
  /** What all pinned memories use of the tokens that memories may have in a request. Absent if none is pinned. */
  pinnedTokens: z.object({ used: z.int(), limit: z.int() }).optional(),
})

/** Counts of the memory store. */
const memoryStoreSchema = z.object({
  total: z.int(),
  active: z.int(),
  contested: z.int(),
  /** Absent if there are none. */
  provisional: z.int().optional(),
  superseded: z.int(),
  retired: z.int(),
  forgotten: z.int(),
  byKind: z.record(z.string(), z.int()),
})

/** What became of the candidates for memories since the start. */
export const deduplicationCounts = {
  since: z.string(),
  candidates: z.int(),
  inserted: z.int(),
  reinforced: z.int(),
  merged: z.int(),
  discarded: z.int(),
  suppressed: z.int(),
}

const recentEventSchema = z.object({
  seq: z.int(),
  type: z.string(),
  at: z.string(),
  conversationId: z.string().nullable(),
  payload: z.record(z.string(), z.unknown()),
})

export type MemoryConfig = z.output<typeof memoryConfigSchema>

const memoryInsightsSchema = z.object({
  store: memoryStoreSchema,
  deduplication: z.object(deduplicationCounts),
  runtime: z.object({
    extraction: z.object({
      method: z.enum(['model', 'rules']),
      running: z.boolean(),
      unread: z.int(),
      lastFailure: z
        .object({
          at: z.string(),
          kind: z.string(),
          attempt: z.int(),
          final: z.boolean(),
          retryAt: z.string().nullable(),
        })
        .nullable(),
    }),
    recall: z.object({
      queries: z.int(),
      inTime: z.int(),
      late: z.int(),
      failed: z.int(),
      waiting: z.int(),
      lastDurationMs: z.number().nullable(),
    }),
    embedding: z.object({
      model: z.string().nullable(),
      state: z.enum(['off', 'up_to_date', 'embedding', 'waiting']),
      embedded: z.int(),
      total: z.int(),
      failures: z.int(),
      lastFailure: z.object({ at: z.string(), kind: z.string() }).nullable(),
      retryAt: z.string().nullable(),
    }),
  }),
  recentEvents: z.array(recentEventSchema),
})

export type MemoryInsights = z.output<typeof memoryInsightsSchema>

export const list = get('/api/memories', {
  summary: 'List current memories, newest first; `q` searches their text',
  request: {
    query: z.object({
      q: z.string().max(1000).optional(),
      /** Lists pinned memories only, or only the others. */
      pinned: z.enum(['true', 'false']).optional(),
      ...listQuery(50, 200),
    }),
  },
  responses: answer(memoryListSchema, 'Memories; `count` is the number of all matches', 400),
})

const text = z.string().trim().min(1).max(1000)
const pasted = z
  .boolean()
  .default(false)
  .describe(
    'Some of the text was pasted. It counts as the words of others, and needs your confirmation to act.',
  )
const written = {
  text,
  kind: z.enum(memoryKinds).optional().describe('Without one, the words decide, or else the earlier memory'),
  pasted,
}

export const add = post('/api/memories', {
  summary: 'Add a memory in your own words',
  request: { body: body(z.object(written)) },
  responses: {
    ...created(memorySchema, 'The new memory', 400),
    ...answer(memorySchema, 'The memory that already says it, now stronger', 400),
  },
})

export const change = put('/api/memories/{id}', {
  summary: 'Edit a memory, or pin it, so that it is part of every reply to you',
  description:
    'An edit makes a new memory, with another id, and the earlier one no longer applies. It is not learned again from ' +
    'what was said before. `POST /api/memories/{id}/restore` for the earlier one undoes the edit.',
  request: {
    params: z.object({ id: z.string() }),
    body: body(
      z
        .object({ ...written, text: text.optional(), pinned: z.boolean().optional() })
        .refine(({ text, kind, pinned }) => (text ?? kind ?? pinned) !== undefined, {
          message: english`needs a text, a kind or a pin`,
        }),
    ),
  },
  responses: answer(memorySchema, 'The memory as it is now', 400, 404, 409),
})

export const merge = post('/api/memories/merge', {
  summary: 'Replace two or more memories by one',
  request: {
    body: body(
      z.object({
        ids: z
          .array(z.string().max(200))
          .min(2)
          .max(50)
          .refine((ids) => new Set(ids).size === ids.length, { message: english`must differ` }),
        ...written,
      }),
    ),
  },
  responses: created(memorySchema, 'The memory in their place', 400, 404, 409),
})

export const insights = get('/api/memories/insights', {
  summary: 'Get memory statistics: the store, deduplication, running work and recent events',
  responses: answer(memoryInsightsSchema, 'Insights'),
})

const recallExamplesSchema = z.object({
  /** The owner's last messages, newest first, at most 10, each as if it opened a new conversation. */
  examples: z.array(
    z.object({
      seq: z.int(),
      at: z.string(),
      text: z.string(),
      /** All lines that some threshold shows, as the model reads them, oldest first. */
      lines: z.array(z.object({ seq: z.int(), text: z.string() })),
      /** The lines shown from a threshold until the next step. The first step is from 0. */
      steps: z.array(z.object({ from: z.number(), seqs: z.array(z.int()) })),
    }),
  ),
})

export type RecallExample = z.output<typeof recallExamplesSchema>['examples'][number]

export const recallExamples = get('/api/memories/recall-examples', {
  summary: 'Get what recall would show for the last messages of the owner at each relevance threshold',
  responses: answer(recallExamplesSchema, 'Examples, by the other memory settings as they are'),
})

export const remove = del('/api/memories/{id}', {
  summary: 'Forget a memory for good; it is not learned again from the same words',
  request: { params: z.object({ id: z.string() }) },
  responses: done('Forgotten; its words are erased', 404),
})

export const restore = post('/api/memories/{id}/restore', {
  summary: 'Restore a memory that no longer applies, and retire its replacement',
  request: { params: z.object({ id: z.string() }) },
  responses: answer(z.object({ restored: z.literal(true) }), 'The memory applies again', 404, 409),
})

export const readConfig = get('/memory-config', {
  summary: 'Get the memory settings',
  responses: answer(memoryConfigSchema, 'The current settings'),
})

export const changeConfig = put('/memory-config', {
  summary: 'Change memory settings; omitted ones stay as they are',
  request: { body: body(memoryConfigChangeSchema) },
  responses: answer(memoryConfigSchema, 'The new settings', 400),
})
