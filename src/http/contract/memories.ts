import { createRoute, z } from '@hono/zod-openapi'
import { memoryInsightsSchema } from '../../memory/api.ts'
import { memoryConfigChangeSchema, memoryConfigSchema } from '../../memory/config.ts'
import { memoryListSchema } from '../../memory/listing.ts'
import { body, json, refusals } from './describe.ts'
import { listQuery } from './list-query.ts'

export const list = createRoute({
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

export const insights = createRoute({
  method: 'get',
  path: '/api/memories/insights',
  tags: ['Memories'],
  summary: 'Get memory statistics: the store, deduplication, running work and recent events',
  responses: { 200: json(memoryInsightsSchema, 'Insights') },
})

export const remove = createRoute({
  method: 'delete',
  path: '/api/memories/{id}',
  tags: ['Memories'],
  summary: 'Forget a memory for good; it is not learned again from the same words',
  request: { params: z.object({ id: z.string() }) },
  responses: { 204: { description: 'Forgotten; its words are erased' }, ...refusals(404) },
})

export const restore = createRoute({
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

export const readConfig = createRoute({
  method: 'get',
  path: '/memory-config',
  tags: ['Memories'],
  summary: 'Get the memory settings',
  responses: { 200: json(memoryConfigSchema, 'The current settings') },
})

export const changeConfig = createRoute({
  method: 'put',
  path: '/memory-config',
  tags: ['Memories'],
  summary: 'Change memory settings; omitted ones stay as they are',
  request: { body: body(memoryConfigChangeSchema) },
  responses: { 200: json(memoryConfigSchema, 'The new settings'), ...refusals(400) },
})
