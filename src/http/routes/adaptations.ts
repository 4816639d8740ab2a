import { createRoute, z } from '@hono/zod-openapi'
import {
  type Adaptation,
  adaptationIdSchema,
  CHANNELS,
  channelsSchema,
  contentSchema,
  MAX_ADAPTATIONS,
  MAX_TOTAL_CHARS,
  titleSchema,
} from '../../adaptations/adaptation.ts'
import type { Adaptations } from '../../adaptations/adaptations.ts'
import { body, json, refusals } from '../contract/describe.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { invalidField, Refusal } from '../server/problem.ts'

const channel = z.enum(CHANNELS)
const adaptationSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    content: z.string(),
    enabled: z.boolean(),
    channels: z.array(channel),
    source: z.enum(['owner', 'file']),
    updatedAt: z.string(),
  })
  .openapi('Adaptation')
const params = z.object({ id: z.string().max(200) })

const list = createRoute({
  method: 'get',
  path: '/api/adaptations',
  tags: ['Adaptations'],
  summary: 'List the standing instructions',
  responses: {
    200: json(z.object({ adaptations: z.array(adaptationSchema) }), 'All instructions, enabled or not'),
  },
})

const read = createRoute({
  method: 'get',
  path: '/api/adaptations/{id}',
  tags: ['Adaptations'],
  summary: 'Get a standing instruction',
  request: { params },
  responses: { 200: json(adaptationSchema, 'The instruction'), ...refusals(404) },
})

const save = createRoute({
  method: 'post',
  path: '/api/adaptations/{id}',
  tags: ['Adaptations'],
  summary: 'Create or change a standing instruction; takes effect on the next turn',
  request: {
    params,
    body: body(
      z.object({
        title: titleSchema.optional(),
        content: contentSchema.optional(),
        enabled: z.boolean().optional(),
        channels: channelsSchema.optional(),
      }),
    ),
  },
  responses: {
    200: json(adaptationSchema, 'Changed'),
    201: json(adaptationSchema, 'Created'),
    ...refusals(400, 409),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/adaptations/{id}',
  tags: ['Adaptations'],
  summary: 'Delete a standing instruction; one from a file returns when the files are reloaded',
  request: { params },
  responses: { 204: { description: 'Deleted' }, ...refusals(404) },
})

const preview = createRoute({
  method: 'get',
  path: '/api/adaptations.preview',
  tags: ['Adaptations'],
  summary: 'Get the exact instructions for the model on a channel',
  request: { query: z.object({ channel: channel.default('chat') }) },
  responses: { 200: json(z.object({ instructions: z.string() }), 'The instructions'), ...refusals(400) },
})

const reload = createRoute({
  method: 'post',
  path: '/api/adaptations.reload',
  tags: ['Adaptations'],
  summary: 'Reload the adaptation files',
  responses: {
    200: json(
      z.object({
        loaded: z.int(),
        skipped: z.array(z.object({ file: z.string(), reason: z.string() })),
      }),
      'The number of loaded files, and the skipped files with the reasons',
    ),
  },
})

export function adaptationRoutes(options: {
  readonly adaptations: Adaptations
  /** The exact instructions for the model on a channel. */
  readonly instructions: (channel: (typeof CHANNELS)[number]) => string
}): RouteModule {
  const routes = createRoutes()
  const { adaptations } = options

  routes.openapi(list, (c) => c.json({ adaptations: adaptations.list().map(present) }, 200))
  routes.openapi(read, (c) => {
    const found = adaptations.get(c.req.valid('param').id)
    if (!found) throw unknown()
    return c.json(present(found), 200)
  })
  routes.openapi(save, async (c) => {
    const id = adaptationIdSchema.safeParse(c.req.valid('param').id)
    if (!id.success)
      throw invalidField(
        'id',
        'must start with a letter or digit, then only letters, digits and . _ : @ - (at most 100 characters)',
        'invalid_id',
      )
    const outcome = await adaptations.save(id.data, c.req.valid('json'))
    switch (outcome.status) {
      case 'created':
        return c.json(present(outcome.adaptation), 201)
      case 'updated':
        return c.json(present(outcome.adaptation), 200)
      case 'no_content':
        throw invalidField('content', 'is required for a new instruction')
      case 'too_many':
        throw new Refusal(
          409,
          'too_many',
          `There are already ${MAX_ADAPTATIONS} instructions. Delete one first.`,
        )
      case 'too_long':
        throw new Refusal(
          409,
          'too_long',
          `All instructions together may have at most ${MAX_TOTAL_CHARS} characters.`,
        )
    }
  })
  routes.openapi(remove, async (c) => {
    if (!(await adaptations.remove(c.req.valid('param').id))) throw unknown()
    return c.body(null, 204)
  })
  routes.openapi(preview, (c) =>
    c.json({ instructions: options.instructions(c.req.valid('query').channel) }, 200),
  )
  routes.openapi(reload, async (c) => {
    const { loaded, skipped } = await adaptations.reload()
    return c.json({ loaded, skipped: [...skipped] }, 200)
  })
  return { routes }
}

function present(adaptation: Adaptation) {
  return { ...adaptation, channels: [...adaptation.channels] }
}

function unknown(): Refusal {
  return new Refusal(404, 'unknown_adaptation', 'There is no such instruction.')
}
