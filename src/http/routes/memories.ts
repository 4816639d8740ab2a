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
import type { RouteModule } from '../app.ts'
import { body, json, refusals } from '../describe.ts'
import { createRoutes } from '../env.ts'
import { listQuery, seqOf } from '../list-query.ts'
import { Refusal } from '../problem.ts'

const list = createRoute({
  method: 'get',
  path: '/api/memories',
  tags: ['Memories'],
  summary: 'What is remembered now, the latest first; `q` searches the words',
  request: { query: z.object({ q: z.string().max(1000).optional(), ...listQuery(50, 200) }) },
  responses: { 200: json(memoryListSchema, 'Memories; `count` is of all that match'), ...refusals(400) },
})

const insights = createRoute({
  method: 'get',
  path: '/api/memories/insights',
  tags: ['Memories'],
  summary: 'How memory is doing: what is kept, what became of candidates, what runs, what happened last',
  responses: { 200: json(memoryInsightsSchema, 'Insights') },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/memories/{id}',
  tags: ['Memories'],
  summary: 'Forgets a memory for good; it is not learned back from the same words',
  request: { params: z.object({ id: z.string() }) },
  responses: { 204: { description: 'Forgotten, and its words erased' }, ...refusals(404) },
})

const restore = createRoute({
  method: 'post',
  path: '/api/memories/{id}/restore',
  tags: ['Memories'],
  summary: 'Undoes what had become of a memory: it holds again, and what took its place does not',
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(z.object({ restored: z.literal(true) }), 'It holds again'), ...refusals(404, 409) },
})

const readConfig = createRoute({
  method: 'get',
  path: '/memory-config',
  tags: ['Memories'],
  summary: 'How memory is tuned',
  responses: { 200: json(memoryConfigSchema, 'The tuning in force') },
})

const changeConfig = createRoute({
  method: 'put',
  path: '/memory-config',
  tags: ['Memories'],
  summary: 'Tunes memory; what is left out stays as it is',
  request: { body: body(memoryConfigChangeSchema) },
  responses: { 200: json(memoryConfigSchema, 'The tuning now'), ...refusals(400) },
})

/** What is remembered of the owner: seen, searched, forgotten and tuned. */
export function memoryRoutes(options: {
  readonly api: MemoryApi
  /** Forgets it for good. False where there is no such memory. */
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
    if (outcome === 'current') throw new Refusal(409, 'nothing_to_undo', 'It holds as it is.')
    return c.json({ restored: true as const }, 200)
  })
  routes.openapi(readConfig, (c) => c.json(options.config(), 200))
  routes.openapi(changeConfig, async (c) => c.json(await options.changeConfig(c.req.valid('json')), 200))
  return { routes }
}
