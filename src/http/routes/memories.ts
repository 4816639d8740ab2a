import type { MemoryApi } from '../../memory/api.ts'
import type { MemoryConfig, MemoryConfigChange } from '../../memory/config.ts'
import { seqOf } from '../contract/list-query.ts'
import { changeConfig, insights, list, readConfig, remove, restore } from '../contract/memories.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'

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
