import type { Settled } from '../../agent/proposals/proposals.ts'
import { msg, translated } from '../../language/msg.ts'
import { confirm, decline, list } from '../contract/proposals.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, invalidField, Refusal } from '../server/problem.ts'

/** What the delegate may do only after the owner confirms it here. */
export function proposalRoutes(routes: Routes, { agent: { proposals } }: RouteDeps): void {
  routes.openapi(list, (c) => c.json({ proposals: proposals.open() }, 200))
  routes.openapi(confirm, async (c) => {
    const { chosen } = c.req.valid('json')
    return c.json(settled(await proposals.confirm(c.req.valid('param').id, chosen)), 200)
  })
  routes.openapi(decline, async (c) => c.json(settled(await proposals.decline(c.req.valid('param').id)), 200))
}

function settled(outcome: Settled) {
  if (outcome.status === 'unknown')
    throw new Refusal(404, 'unknown_proposal', msg`There is no such proposal, or its words were erased.`)
  if (outcome.status === 'not_chosen')
    throw invalidField('chosen', msg`must name one or more of the choices that are left`)
  if (outcome.status === 'too_late') {
    const { status } = outcome.proposal
    if (status === 'expired')
      throw conflict(
        'proposal_expired',
        msg`The proposal has expired, and nothing was done. Ask for it again.`,
      )
    throw conflict('proposal_settled', msg`The proposal was already ${translated(status)}.`)
  }
  return outcome.proposal
}
