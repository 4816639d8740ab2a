import { seqOf } from '../contract/list-query.ts'
import {
  changeConfig,
  insights,
  list,
  readConfig,
  recallExamples,
  remove,
  restore,
} from '../contract/memories.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, unknown } from '../server/problem.ts'

export function memoryRoutes(routes: Routes, { memory, erasures }: RouteDeps): void {
  const { api, config, memories } = memory
  routes.openapi(list, async (c) => {
    const { q, limit, cursor } = c.req.valid('query')
    return c.json(await api.list({ q: q ?? null, limit, beforeSeq: seqOf(cursor) }), 200)
  })
  routes.openapi(insights, async (c) => c.json(await api.insights(), 200))
  routes.openapi(recallExamples, async (c) => c.json({ examples: await api.recallExamples() }, 200))
  routes.openapi(remove, async (c) => {
    const outcome = await erasures.eraseNow({ kind: 'memory', id: c.req.valid('param').id })
    if (!('erased' in outcome)) throw unknown('memory')
    return c.body(null, 204)
  })
  routes.openapi(restore, async (c) => {
    const outcome = await memories.restore(c.req.valid('param').id, { by: 'owner', channel: 'system' })
    if (outcome === 'unknown') throw unknown('memory')
    if (outcome === 'current')
      throw conflict('nothing_to_undo', 'There is nothing to undo: the memory already applies.')
    return c.json({ restored: true as const }, 200)
  })
  routes.openapi(readConfig, (c) => c.json(config.get(), 200))
  routes.openapi(changeConfig, async (c) => c.json(await memory.changeConfig(c.req.valid('json')), 200))
}
