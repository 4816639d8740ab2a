import { english } from '../../language/message.ts'
import { msg } from '../../language/msg.ts'
import type { ByHandOutcome, ByHandRefusal, ByHandWords } from '../../memory/by-hand.ts'
import { seqOf } from '../contract/list-query.ts'
import {
  add,
  change,
  changeConfig,
  insights,
  list,
  merge,
  readConfig,
  recallExamples,
  remove,
  restore,
} from '../contract/memories.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, unknown } from '../server/problem.ts'

export function memoryRoutes(routes: Routes, { memory, erasures }: RouteDeps): void {
  const { api, byHand, config, memories } = memory
  routes.openapi(list, async (c) => {
    const { q, pinned, limit, cursor } = c.req.valid('query')
    const asked = { q: q ?? null, pinned: pinned === undefined ? null : pinned === 'true' }
    return c.json(await api.list({ ...asked, limit, beforeSeq: seqOf(cursor) }), 200)
  })
  routes.openapi(insights, async (c) => c.json(await api.insights(), 200))
  routes.openapi(recallExamples, async (c) => c.json({ examples: await api.recallExamples() }, 200))
  routes.openapi(remove, async (c) => {
    const outcome = await erasures.eraseNow({ kind: 'memory', id: c.req.valid('param').id })
    if (!('erased' in outcome)) throw unknown('memory')
    return c.body(null, 204)
  })
  routes.openapi(restore, async (c) => {
    const outcome = await memories.restore(c.req.valid('param').id)
    if (outcome === 'unknown') throw unknown('memory')
    if (outcome === 'current')
      throw conflict('nothing_to_undo', msg`There is nothing to undo: the memory already applies.`)
    return c.json({ restored: true as const }, 200)
  })
  routes.openapi(add, async (c) => {
    const { memory, isNew } = await byHand.add(wordsOf(c.req.valid('json')))
    return isNew ? c.json(api.present(memory), 201) : c.json(api.present(memory), 200)
  })
  routes.openapi(merge, async (c) => {
    const { ids, ...written } = c.req.valid('json')
    return c.json(api.present(done(await byHand.merge(ids, wordsOf(written)))), 201)
  })
  routes.openapi(change, async (c) => {
    const { pasted: isPasted, ...asked } = c.req.valid('json')
    const outcome = await byHand.change(c.req.valid('param').id, { ...asked, isPasted })
    return c.json(api.present(done(outcome)), 200)
  })
  routes.openapi(readConfig, (c) => c.json(config.get(), 200))
  routes.openapi(changeConfig, async (c) => c.json(await memory.changeConfig(c.req.valid('json')), 200))
}

function wordsOf(written: {
  readonly text: string
  readonly kind?: ByHandWords['kind'] | undefined
  readonly pasted: boolean
}): ByHandWords {
  const { text, kind = null, pasted: isPasted } = written
  return { text, kind, isPasted }
}

const refusals: Readonly<Record<Exclude<ByHandRefusal, 'unknown'>, string>> = {
  outdated: english`The memory no longer applies. Reload to see what replaced it.`,
  unconfirmed: english`The memory is not confirmed yet. Confirm it first.`,
  pins_full: english`The pinned memories leave no room. Unpin one, or allow more tokens in the memory settings.`,
}

/** The memory, or throws the refusal. */
function done(outcome: ByHandOutcome) {
  if ('memory' in outcome) return outcome.memory
  if (outcome.refused === 'unknown') throw unknown('memory')
  throw conflict(`memory_${outcome.refused}`, refusals[outcome.refused])
}
