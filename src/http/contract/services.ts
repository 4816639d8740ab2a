import { z } from '@hono/zod-openapi'
import { body, json, refusals, tagged } from './describe.ts'

const { del, get, post, put } = tagged('Services')

const choiceSchema = z.object({ service: z.string(), model: z.string() })

const listSchema = z.object({
  kinds: z
    .array(
      z.object({
        kind: z.string(),
        title: z.string(),
        baseUrl: z.string().nullable(),
        needsKey: z.boolean(),
        hint: z.string(),
      }),
    )
    .readonly(),
  services: z
    .array(
      z.object({
        id: z.string(),
        kind: z.string(),
        title: z.string(),
        baseUrl: z.string(),
        api: z.string(),
        hasKey: z.boolean(),
      }),
    )
    .readonly(),
  uses: z
    .array(
      z.object({
        service: z.string(),
        model: z.string().nullable(),
        use: z.enum(['chat', 'utility', 'embedding', 'transcription', 'speech', 'realtime']),
        available: z.boolean(),
      }),
    )
    .readonly(),
  fallback: z.array(choiceSchema).readonly(),
})

export type ServicesList = z.output<typeof listSchema>

const modelSchema = z.object({ id: z.string(), contextTokens: z.int().nullable() })

const testSchema = z.object({
  ok: z.boolean(),
  steps: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })).readonly(),
  models: z.array(modelSchema).readonly(),
  can: z.array(z.object({ feature: z.string(), ok: z.boolean().nullable(), detail: z.string() })).readonly(),
})

export type ServiceTest = z.output<typeof testSchema>

export const list = get('/api/services', {
  summary: 'List model services',
  responses: { 200: json(listSchema, 'The services') },
})

export const change = put('/api/services/{id}', {
  summary: 'Add or change a service',
  request: {
    params: z.object({ id: z.string() }),
    body: body(
      z.object({
        kind: z.string(),
        title: z.string(),
        baseUrl: z.string(),
        api: z.string().optional(),
        apiKey: z.string().optional(),
      }),
    ),
  },
  responses: { 200: json(listSchema, 'The services'), ...refusals(400, 403) },
})

export const remove = del('/api/services/{id}', {
  summary: 'Remove a service',
  request: { params: z.object({ id: z.string() }) },
  responses: { 204: { description: 'Removed' }, ...refusals(403, 404, 409) },
})

export const test = post('/api/services/test', {
  summary: 'Test a service',
  request: {
    body: body(
      z.object({
        id: z.string().optional(),
        kind: z.string().optional(),
        baseUrl: z.string().optional(),
        apiKey: z.string().optional(),
        model: z.string().optional(),
      }),
    ),
  },
  responses: { 200: json(testSchema, 'The result'), ...refusals(400) },
})

export const models = get('/api/services/{id}/models', {
  summary: 'List the models of a service',
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(z.object({ models: z.array(modelSchema).readonly() }), 'The models') },
})
