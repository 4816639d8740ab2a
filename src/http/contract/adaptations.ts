import { z } from '@hono/zod-openapi'
import { CHANNELS, channelsSchema, contentSchema, titleSchema } from '../../adaptations/adaptation.ts'
import { answer, body, done, json, refusals, tagged } from './describe.ts'

const { del, get, post } = tagged('Adaptations')

const channel = z.enum(CHANNELS)

const adaptationSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    content: z.string(),
    enabled: z.boolean(),
    channels: z.array(channel).readonly(),
    source: z.enum(['owner', 'file']),
    updatedAt: z.string(),
  })
  .openapi('Adaptation')
export type Adaptation = z.output<typeof adaptationSchema>
export type AdaptationChannel = z.output<typeof channel>

const params = z.object({ id: z.string().max(200) })

export const list = get('/api/adaptations', {
  summary: 'List the standing instructions',
  responses: answer(
    z.object({ adaptations: z.array(adaptationSchema).readonly() }),
    'All instructions, enabled or not',
  ),
})

export const read = get('/api/adaptations/{id}', {
  summary: 'Get a standing instruction',
  request: { params },
  responses: answer(adaptationSchema, 'The instruction', 404),
})

export const save = post('/api/adaptations/{id}', {
  summary: 'Create or change a standing instruction; takes effect on the next turn',
  request: {
    params,
    body: body(
      z.object({
        title: titleSchema.optional(),
        content: contentSchema.optional(),
        enabled: z.boolean().optional(),
        channels: channelsSchema.readonly().optional(),
      }),
    ),
  },
  responses: {
    200: json(adaptationSchema, 'Changed'),
    201: json(adaptationSchema, 'Created'),
    ...refusals(400, 409),
  },
})

export const remove = del('/api/adaptations/{id}', {
  summary: 'Delete a standing instruction; one from a file returns when the files are reloaded',
  request: { params },
  responses: done('Deleted', 404),
})

export const preview = get('/api/adaptations.preview', {
  summary: 'Get the exact instructions for the model on a channel',
  request: { query: z.object({ channel: channel.default('chat') }) },
  responses: answer(z.object({ instructions: z.string() }), 'The instructions', 400),
})

const reloadedSchema = z.object({
  loaded: z.int(),
  skipped: z.array(z.object({ file: z.string(), reason: z.string() })).readonly(),
})

export type Reloaded = z.output<typeof reloadedSchema>

export const reload = post('/api/adaptations.reload', {
  summary: 'Reload the adaptation files',
  responses: answer(reloadedSchema, 'The number of loaded files, and the skipped files with the reasons'),
})
