import { createRoute, z } from '@hono/zod-openapi'
import type { MemoryApi } from '../../memory/api.ts'
import { memoryInsightsSchema } from '../../memory/api.ts'
import {
  type MemoryConfig,
  type MemoryConfigChange,
  memoryConfigChangeSchema,
  memoryConfigSchema,
} from '../../memory/config.ts'
import { memoryListSchema } from '../../memory/listing.ts'
import { body, json, refusals } from '../contract/describe.ts'
import { listQuery, seqOf } from '../contract/list-query.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'

const list = createRoute({
  method: 'get',
  path: '/api/memories',
  tags: ['Memories'],
  summary: 'List current memories, newest first; `q` searches their text',
  request: { query: z.object({ q: z.string().max(1000).optional(), ...listQuery(50, 200) }) },
  responses: {
    200: json(memoryListSchema, 'Memories; `count` is the number of all matches'),
    ...refusals(400),
  },
})

const insights = createRoute({
  method: 'get',
  path: '/api/memories/insights',
  tags: ['Memories'],
  summary: 'Get memory statistics: the store, deduplication, running work and recent events',
  responses: { 200: json(memoryInsightsSchema, 'Insights') },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/memories/{id}',
  tags: ['Memories'],
  summary: 'Forget a memory for good; it is not learned again from the same words',
  request: { params: z.object({ id: z.string() }) },
  responses: { 204: { description: 'Forgotten; its words are erased' }, ...refusals(404) },
})

const restore = createRoute({
  method: 'post',
  path: '/api/memories/{id}/restore',
  tags: ['Memories'],
  summary: 'Restore a memory that no longer applies, and retire its replacement',
  request: { params: z.object({ id: z.string() }) },
  responses: {
    200: json(z.object({ restored: z.literal(true) }), 'The memory applies again'),
    ...refusals(404, 409),
  },
})

const readConfig = createRoute({
  method: 'get',
  path: '/memory-config',
  tags: ['Memories'],
  summary: 'Get the memory settings',
  responses: { 200: json(memoryConfigSchema, 'The current settings') },
})

const changeConfig = createRoute({
  method: 'put',
  path: '/memory-config',
  tags: ['Memories'],
  summary: 'Change memory settings; omitted ones stay as they are',
  request: { body: body(memoryConfigChangeSchema) },
  responses: { 200: json(memoryConfigSchema, 'The new settings'), ...refusals(400) },
})

export function memoryRoutes(options: {
  readonly api: MemoryApi
  /** Forgets a memory for good. False if there is no such memory. */
  readonly forget: (memoryId: string) => Promise<boolean>
  readonly restore: (memoryId: string) => Promise<'restored' | 'unknown' | 'current'>
  readonly config: () => MemoryConfig
  readonly changeConfig: (change: MemoryConfigChange) => Promise<MemoryConfig>
}): RouteModule {
  const { api } = options
  const routes = createRoutes()
  routes.openapi(list, async (c) => {
    const { q, limit, cursor } = c.req.valid('query')
    return c.json(await api.list({ q: q ?? null, limit, beforeSeq: seqOf(cursor) }), 200)
  })
  routes.openapi(insights, async (c) => c.json(await api.insights(), 200))
  routes.openapi(remove, async (c) => {
    if (!(await options.forget(c.req.valid('param').id)))
      throw new Refusal(404, 'unknown_memory', 'There is no such memory.')
    return c.body(null, 204)
  })
  routes.openapi(restore, async (c) => {
    const outcome = await options.restore(c.req.valid('param').id)
    if (outcome === 'unknown') throw new Refusal(404, 'unknown_memory', 'There is no such memory.')
    if (outcome === 'current')
      throw new Refusal(409, 'nothing_to_undo', 'There is nothing to undo: the memory already applies.')
    return c.json({ restored: true as const }, 200)
  })
  routes.openapi(readConfig, (c) => c.json(options.config(), 200))
  routes.openapi(changeConfig, async (c) => c.json(await options.changeConfig(c.req.valid('json')), 200))
  return { routes }
}
