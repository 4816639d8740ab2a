import type { Settled } from '../../agent/proposals/proposals.ts'
import { chosenIn } from '../../memory/forget/candidates.ts'
import { confirm, decline, list, plan, read } from '../contract/proposals.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, invalidField, Refusal } from '../server/problem.ts'
import { planOf } from './erasures.ts'

/** What the delegate may do only after the owner confirms it here. */
export function proposalRoutes(routes: Routes, { agent: { proposals }, erasures }: RouteDeps): void {
  routes.openapi(list, (c) => c.json({ proposals: proposals.open() }, 200))
  routes.openapi(read, (c) => c.json(proposals.get(c.req.valid('param').id) ?? unknownProposal(), 200))
  routes.openapi(plan, async (c) => {
    const proposal = proposals.get(c.req.valid('param').id) ?? unknownProposal()
    const chosen = c.req.valid('query').chosen.split(',')
    const isOffered = chosen.every((id) => proposal.choices?.some((choice) => choice.id === id))
    if (!isOffered) throw notChosen()
    return c.json(planOf(await erasures.plan({ kind: 'words', ...chosenIn(chosen) })), 200)
  })
  routes.openapi(confirm, async (c) => {
    const { chosen } = c.req.valid('json')
    return c.json(settled(await proposals.confirm(c.req.valid('param').id, chosen)), 200)
  })
  routes.openapi(decline, async (c) => c.json(settled(await proposals.decline(c.req.valid('param').id)), 200))
}

function settled(outcome: Settled) {
  if (outcome.status === 'unknown') unknownProposal()
  if (outcome.status === 'not_chosen') throw notChosen()
  if (outcome.status === 'too_late') {
    const { status } = outcome.proposal
    if (status === 'expired')
      throw conflict('proposal_expired', 'The proposal has expired, and nothing was done. Ask for it again.')
    throw conflict('proposal_settled', `The proposal was already ${status}.`)
  }
  return outcome.proposal
}

function unknownProposal(): never {
  throw new Refusal(404, 'unknown_proposal', 'There is no such proposal, or its words were erased.')
}

function notChosen(): Refusal {
  return invalidField('chosen', 'must name one or more of the choices that are left')
}
