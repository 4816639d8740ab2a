import type { z } from '@hono/zod-openapi'
import { type Refused, UNDO_MS } from '../../erasing/erasures.ts'
import type { PlanDescription } from '../../erasing/plan-text.ts'
import type { ErasureTarget } from '../../erasing/targets.ts'
import { msg } from '../../language/msg.ts'
import { chosenIn } from '../../memory/forget/candidates.ts'
import { list, plan, read, request, type target, undo } from '../contract/erasures.ts'
import { seqOf } from '../contract/list-query.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, invalidField, known, Refusal, unknown } from '../server/problem.ts'

/** Erasure with a minute to undo. The DELETE routes of single resources erase at once. */
export function erasureRoutes(routes: Routes, { erasures, imports }: RouteDeps): void {
  function erasable(asked: z.output<typeof target>): ErasureTarget {
    const found = targetOf(asked)
    if (found.kind === 'import' && imports.isRunning(found.id))
      throw conflict('import_running', msg`This import is not finished. Cancel it first.`)
    return found
  }

  routes.openapi(plan, async (c) => {
    const found = await erasures.plan(erasable(c.req.valid('query')))
    if ('status' in found) throw refusalOf(found)
    return c.json({ count: found.count, undoMs: UNDO_MS, ...groupsOf(found) }, 200)
  })
  routes.openapi(request, async (c) => {
    const made = await erasures.request(erasable(c.req.valid('json')))
    if (!('erasure' in made)) throw refusalOf(made)
    return c.json(made.erasure, 201, { Location: `/api/erasures/${made.erasure.id}` })
  })
  routes.openapi(list, (c) => {
    const { limit, cursor } = c.req.valid('query')
    const { erasures: found, nextSeq } = erasures.list(seqOf(cursor), limit)
    return c.json({ erasures: found, nextCursor: nextSeq === null ? null : String(nextSeq) }, 200)
  })
  routes.openapi(read, async (c) => {
    const { id } = c.req.valid('param')
    const found = known(erasures.get(id), 'erasure')
    const plan = await erasures.pendingPlan(id)
    return c.json({ ...found, plan: plan && groupsOf(plan) }, 200)
  })
  routes.openapi(undo, async (c) => {
    const outcome = await erasures.undo(c.req.valid('param').id)
    if (outcome.status === 'unknown') throw unknown('erasure')
    if (outcome.status === 'too_late') {
      const detail =
        outcome.erasure.status === 'undone'
          ? msg`The erasure was already undone.`
          : msg`It is too late to undo: the words are erased.`
      throw conflict('not_pending', detail)
    }
    return c.json(outcome.erasure, 200)
  })
}

function targetOf({ kind, id, from, to, chosen }: z.output<typeof target>): ErasureTarget {
  if (kind === 'words') {
    if (!chosen) throw invalidField('chosen', msg`is required for words`)
    return { kind, ...chosenIn(chosen.split(',')) }
  }
  if (kind !== 'period') {
    if (id === undefined) throw invalidField('id', msg`is required`)
    return { kind, id }
  }
  if (from === undefined) throw invalidField('from', msg`is required for a period`)
  if (to === undefined) throw invalidField('to', msg`is required for a period`)
  // Normalised, so that times compare as strings.
  const period = { kind, from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  if (period.from >= period.to) throw invalidField('to', msg`must be later than from`)
  return period
}

function refusalOf(refused: Refused): Refusal {
  return refused.status === 'unknown'
    ? new Refusal(404, 'nothing_to_erase', msg`There is nothing to erase.`)
    : tooMuch(refused.limit)
}

/** Response to an erasure that names too many events. */
export function tooMuch(limit: number): Refusal {
  return new Refusal(
    400,
    'too_much',
    msg`That is more than ${limit} entries at once. Choose a shorter period.`,
  )
}

function groupsOf({ named, derived, stays }: PlanDescription) {
  return { named, derived, stays }
}
