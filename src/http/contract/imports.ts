import { z } from '@hono/zod-openapi'
import { importServices } from '../../../ledger/events/import.ts'
import { MAX_UPLOAD_BYTES } from '../../imports/limits.ts'
import { answer, body, created, done, tagged } from './describe.ts'
import { integerParam } from './list-query.ts'

const { get, post, put } = tagged('Imports')

const importSchema = z
  .object({
    id: z.string(),
    name: z.string().describe('Of the file; empty once it is erased'),
    bytes: z.int(),
    receivedBytes: z.int(),
    state: z.enum(['uploading', 'running', 'completed', 'failed', 'cancelled']),
    startedAt: z.string().nullable().describe('Null while it is uploaded'),
    endedAt: z.string().nullable(),
    reason: z
      .enum(['unreadable', 'too_large', 'nothing_found', 'file_missing'])
      .nullable()
      .describe('Why it failed'),
    conversations: z.int().describe('That it added to, so far'),
    messages: z.int().describe('That it added, so far'),
    known: z.int().describe('Messages of the file that an earlier import had added'),
    skipped: z.int().describe('Entries of the file that are no conversation'),
  })
  .openapi('Import')

export type Import = z.output<typeof importSchema>

const params = z.object({ id: z.string().max(200) })
const importAnswer = z.object({ import: importSchema })

export const list = get('/api/imports', {
  summary: 'List uploads and the latest imports, newest first',
  responses: answer(
    z.object({
      imports: z.array(importSchema),
      conversations: z.int().describe('Imported conversations that are not erased'),
    }),
    'Imports',
  ),
})

export const begin = post('/api/imports', {
  summary: 'Begin to upload an export of ChatGPT or Claude: a zip, or a JSON file',
  request: {
    body: body(z.object({ name: z.string().min(1).max(255), bytes: z.int().min(1).max(MAX_UPLOAD_BYTES) })),
  },
  responses: created(importAnswer, 'Send the file in pieces', 400, 409),
})

export const piece = put('/api/imports/{id}/file', {
  summary: 'Upload the next piece of the file, at most 1 MiB; the last one starts the import',
  request: {
    params,
    query: z.object({ offset: integerParam(0, MAX_UPLOAD_BYTES).describe('The bytes before it') }),
    body: {
      required: true,
      content: { 'application/octet-stream': { schema: z.string().openapi({ format: 'binary' }) } },
    },
  },
  responses: answer(z.object({ receivedBytes: z.int() }), 'Received', 400, 404, 409, 413),
})

export const cancel = post('/api/imports/{id}/cancel', {
  summary: 'Cancel an upload or an import; what it has added stays',
  request: { params },
  responses: done('Cancelled', 404),
})

const conversationFields = {
  id: z.string(),
  service: z.enum(importServices),
  title: z.string(),
  firstAt: z.string(),
  lastAt: z.string(),
  messages: z.int(),
}

const conversationSchema = z
  .object({
    ...conversationFields,
    snippet: z.string().optional().describe('Of a search'),
    marked: z.string().optional().describe('The snippet with its matches between U+0002 and U+0003'),
  })
  .openapi('ImportedConversation')

export type ImportedConversation = z.output<typeof conversationSchema>

export const conversations = get('/api/imported', {
  summary: 'List imported conversations by the date of their last message; `q` searches titles and messages',
  request: {
    query: z.object({
      q: z.string().max(1000).optional(),
      limit: integerParam(1, 100).default(30),
      cursor: z.string().max(300).optional(),
    }),
  },
  responses: answer(
    z.object({ conversations: z.array(conversationSchema), nextCursor: z.string().nullable() }),
    'Conversations',
    400,
  ),
})

const messageSchema = z.object({
  seq: z.int().describe('The event that has it'),
  speaker: z.enum(['owner', 'assistant']),
  at: z.string(),
  text: z.string(),
})

export const conversation = get('/api/imported/{id}', {
  summary: 'Read an imported conversation, from its first message on',
  request: {
    params: z.object({ id: z.string().max(300) }),
    query: z.object({
      limit: integerParam(1, 500).default(100),
      cursor: z
        .string()
        .regex(/^\d{1,15}$/)
        .optional(),
    }),
  },
  responses: answer(
    z
      .object({
        ...conversationFields,
        items: z.array(messageSchema).describe('At least `limit` messages, if there are as many'),
        nextCursor: z.string().nullable(),
      })
      .openapi('ImportedMessages'),
    'The conversation',
    400,
    404,
  ),
})

const selection = {
  importId: z.string().max(200).optional().describe('A whole import'),
  ids: z.array(z.string().max(300)).min(1).max(500).optional().describe('Some conversations'),
}

const estimateSchema = z
  .object({
    conversations: z.int(),
    messages: z.int().describe('Of the owner'),
    requests: z.int(),
    method: z.enum(['model', 'rules']).describe('`rules`: no model; free, and finds only plain sentences'),
    model: z.string().nullable(),
    inputTokens: z.int(),
    outputTokens: z.int(),
    costMicros: z.int().describe('In millionths of a US dollar'),
  })
  .openapi('ReadingEstimate')

export type ReadingEstimate = z.output<typeof estimateSchema>

export const estimate = post('/api/imported.readings/estimate', {
  summary: 'Estimate what it costs to look for memories in imported conversations',
  request: { body: body(z.object(selection)) },
  responses: answer(estimateSchema, 'The estimate', 400),
})

const readingSchema = z
  .object({
    id: z.string(),
    requestedAt: z.string(),
    state: z.enum(['running', 'completed', 'cancelled']),
    requests: z.int(),
    read: z.int(),
    failed: z.int(),
    candidates: z.int(),
  })
  .openapi('ImportReading')

export const requestReading = post('/api/imported.readings', {
  summary: 'Look for memories in imported conversations; they become memories once the owner keeps them',
  request: { body: body(z.object(selection)) },
  responses: created(readingSchema, 'The reading', 400, 404),
})

export const readings = get('/api/imported.readings', {
  summary: 'List the latest readings, and how many candidates are undecided',
  responses: answer(z.object({ readings: z.array(readingSchema), candidates: z.int() }), 'Newest first'),
})

export type Readings = { readings: z.output<typeof readingSchema>[]; candidates: number }

export const cancelReading = post('/api/imported.readings/{id}/cancel', {
  summary: 'Stop looking for memories; the candidates stay',
  request: { params },
  responses: done('Cancelled', 404),
})

const candidateSchema = z
  .object({
    id: z.string(),
    text: z.string(),
    kind: z.string(),
    quote: z.string(),
    saidAt: z.string(),
    importedId: z.string().describe('The conversation that it comes from'),
  })
  .openapi('ImportCandidate')

export type Candidate = z.output<typeof candidateSchema>

const candidateId = z.string().regex(/^\d{1,15}\.\d{1,3}$/)

export const candidates = get('/api/imported.candidates', {
  summary:
    'List the memories that were found in imported conversations and that the owner has not decided on',
  request: { query: z.object({ limit: integerParam(1, 200).default(100), cursor: candidateId.optional() }) },
  responses: answer(
    z.object({ candidates: z.array(candidateSchema), count: z.int(), nextCursor: z.string().nullable() }),
    'In the order in which they were found',
    400,
  ),
})

export const decide = post('/api/imported.candidates', {
  summary: 'Keep candidates as memories, or drop them',
  request: { body: body(z.object({ ids: z.array(candidateId).min(1).max(500), keep: z.boolean() })) },
  responses: answer(z.object({ decided: z.int() }), 'How many there were', 400),
})
