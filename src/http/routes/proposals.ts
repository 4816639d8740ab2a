import { createRoute, z } from '@hono/zod-openapi'
import type { Proposals, Settled } from '../../agent/proposals/proposals.ts'
import { json, refusals } from '../contract/describe.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'

const proposalSchema = z
  .object({
    id: z.string(),
    kind: z.enum(['sms', 'tool']),
    target: z.string(),
    text: z.string(),
    status: z.enum(['open', 'confirmed', 'declined', 'expired']),
    madeAt: z.string(),
    expiresAt: z.string(),
    tool: z.string().nullable(),
    verb: z.string().nullable(),
    why: z.string().nullable(),
    outcome: z.enum(['done', 'refused', 'failed']).nullable(),
    outcomeText: z.string().nullable(),
  })
  .openapi('Proposal')

const list = createRoute({
  method: 'get',
  path: '/api/proposals',
  tags: ['Outbound'],
  summary: 'List the texts and deeds that wait for confirmation by the owner',
  responses: { 200: json(z.object({ proposals: z.array(proposalSchema) }), 'Open proposals, oldest first') },
})

const params = z.object({ id: z.string().max(200) })

const confirm = createRoute({
  method: 'post',
  path: '/api/proposals/{id}/confirm',
  tags: ['Outbound'],
  summary: 'Confirm a proposal: send its text or do its deed, once, before it expires',
  request: { params },
  responses: {
    200: json(proposalSchema, 'The proposal; a deed has its outcome'),
    ...refusals(404, 409),
  },
})

const decline = createRoute({
  method: 'post',
  path: '/api/proposals/{id}/decline',
  tags: ['Outbound'],
  summary: 'Decline a proposal: nothing is sent or done',
  request: { params },
  responses: { 200: json(proposalSchema, 'The declined proposal'), ...refusals(404, 409) },
})

/** What the delegate may do only after the owner confirms it here. */
export function proposalRoutes(deps: { readonly proposals: Proposals }): RouteModule {
  const { proposals } = deps
  const routes = createRoutes()
  routes.openapi(list, (c) => c.json({ proposals: proposals.open() }, 200))
  routes.openapi(confirm, async (c) => c.json(settled(await proposals.confirm(c.req.valid('param').id)), 200))
  routes.openapi(decline, async (c) => c.json(settled(await proposals.decline(c.req.valid('param').id)), 200))
  return { routes }
}

function settled(outcome: Settled) {
  if (outcome.status === 'unknown')
    throw new Refusal(404, 'unknown_proposal', 'There is no such proposal, or its words were erased.')
  if (outcome.status === 'too_late') {
    const { status } = outcome.proposal
    if (status === 'expired')
      throw new Refusal(
        409,
        'proposal_expired',
        'The proposal has expired, and nothing was done. Ask for it again.',
      )
    throw new Refusal(409, 'proposal_settled', `The proposal was already ${status}.`)
  }
  return outcome.proposal
}
