import { z } from '@hono/zod-openapi'
import {
  MAX_ID_CHARS,
  modelChoiceSchema,
  modelUses,
  serviceEntrySchema,
  serviceFeatures,
} from '../../model/words.ts'
import { serviceUrlSchema, tokenSchema } from '../../settings/setting-schemas.ts'
import { answer, body, done, tagged } from './describe.ts'
import { connectionSchema } from './settings.ts'

const { del, get, post, put } = tagged('Model services')

const { kind, title, api } = serviceEntrySchema.shape
const { model } = modelChoiceSchema.shape
/** Empty for none. */
const apiKey = z.union([z.literal(''), tokenSchema]).optional()
const params = z.object({ id: z.string().max(MAX_ID_CHARS) })

const shownSchema = z
  .object({
    id: z.string().describe('`main` is the service of OPENAI_BASE_URL'),
    kind,
    title: z.string(),
    baseUrl: z.string(),
    api,
    hasKey: z.boolean(),
  })
  .openapi('ModelService')
export type ShownService = z.output<typeof shownSchema>

const listSchema = z
  .object({
    kinds: z
      .array(
        z.object({
          kind,
          title: z.string(),
          about: z.string(),
          baseUrl: z.string().nullable().describe('The usual address; null if every server has its own'),
          needsKey: z.boolean(),
          hint: z.string().describe('Where to make a key, or how to start the server'),
        }),
      )
      .readonly(),
    services: z.array(shownSchema).readonly().describe('`main` first'),
    uses: z
      .array(
        z.object({
          use: z.enum(modelUses),
          service: z.string(),
          model: z.string().nullable(),
          available: z.boolean(),
        }),
      )
      .readonly()
      .describe('What each service is used for. The settings *_SERVICE and *_MODEL select it'),
    fallback: z
      .array(z.object({ service: z.string(), model: z.string() }))
      .readonly()
      .describe('What answers if the chat model fails before its first word. The setting CHAT_FALLBACK'),
  })
  .openapi('ModelServices')
export type ServiceList = z.output<typeof listSchema>

const modelsSchema = z
  .array(
    z.object({
      id: z.string(),
      contextTokens: z.int().nullable().describe('The length of its context, where the service tells it'),
    }),
  )
  .readonly()

const testSchema = connectionSchema
  .extend({
    models: modelsSchema,
    can: z
      .array(
        z.object({
          feature: z.enum(serviceFeatures),
          ok: z.boolean().nullable().describe('Null if it is not known'),
          detail: z.string(),
        }),
      )
      .readonly()
      .describe('What the service offers, as far as that is known without cost. Empty if it does not answer'),
  })
  .openapi('ModelServiceTest')
export type ServiceTest = z.output<typeof testSchema>

export const list = get('/api/services', {
  summary: 'List the model services, what each is used for, and what answers if the chat model fails',
  responses: answer(listSchema, 'The services, and the kinds that can be added'),
})

export const save = put('/api/services/{id}', {
  summary: 'Create or change a model service. Needs a recent proof (`step_up_required`)',
  description:
    'Without `apiKey`, the key stays, but only at the same origin: for a new address it must be entered again. An ' +
    'empty `apiKey` removes the key. `main` writes OPENAI_BASE_URL, OPENAI_API_KEY and MODEL_API.',
  request: {
    params,
    body: body(z.object({ kind, title, baseUrl: serviceUrlSchema, api: api.optional(), apiKey })),
  },
  responses: answer(shownSchema, 'The service', 400, 403, 409),
})

export const remove = del('/api/services/{id}', {
  summary: 'Delete a model service that nothing uses. Needs a recent proof (`step_up_required`)',
  request: { params },
  responses: done('Deleted', 403, 404, 409),
})

export const test = post('/api/services/test', {
  summary: 'Test a model service, saved or not. Another address than a saved one needs a recent proof',
  request: {
    body: body(
      z.union([
        z.strictObject({ id: params.shape.id }),
        z.strictObject({
          kind,
          baseUrl: serviceUrlSchema,
          apiKey,
          model: model.optional(),
        }),
      ]),
    ),
  },
  responses: answer(testSchema, 'The result of each step', 400, 403, 404),
})

export const models = get('/api/services/{id}/models', {
  summary: 'List the models of a service',
  request: { params },
  responses: answer(z.object({ models: modelsSchema }), 'Its models', 404, 502),
})
