import { createRoute, z } from '@hono/zod-openapi'
import type { Proposals, Settled } from '../../proposals/proposals.ts'
import type { RouteModule } from '../app.ts'
import { json, refusals } from '../describe.ts'
import { createRoutes } from '../env.ts'
import { Refusal } from '../problem.ts'

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
  summary: 'Texts to others and other deeds that wait for the word of the owner',
  responses: { 200: json(z.object({ proposals: z.array(proposalSchema) }), 'Those that wait, oldest first') },
})

const params = z.object({ id: z.string().max(200) })

const confirm = createRoute({
  method: 'post',
  path: '/api/proposals/{id}/confirm',
  tags: ['Outbound'],
  summary: 'Lets a proposed text go out, or does a proposed deed: once, and before it expires',
  request: { params },
  responses: {
    200: json(proposalSchema, 'A text is on its way; of a deed, what came of it'),
    ...refusals(404, 409),
  },
})

const decline = createRoute({
  method: 'post',
  path: '/api/proposals/{id}/decline',
  tags: ['Outbound'],
  summary: 'Declines a proposal: nothing is sent or done',
  request: { params },
  responses: { 200: json(proposalSchema, 'Nothing is sent or done'), ...refusals(404, 409) },
})

/** What the delegate may do only once the owner has said so here. */
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
      throw new Refusal(409, 'proposal_expired', 'It has expired, and nothing was done. Ask for it again.')
    throw new Refusal(409, 'proposal_settled', `It was ${status} already.`)
  }
  return outcome.proposal
}
