import { createRoute, z } from '@hono/zod-openapi'
import { json, refusals } from './describe.ts'

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

export const list = createRoute({
  method: 'get',
  path: '/api/proposals',
  tags: ['Outbound'],
  summary: 'List the texts and deeds that wait for confirmation by the owner',
  responses: { 200: json(z.object({ proposals: z.array(proposalSchema) }), 'Open proposals, oldest first') },
})

const params = z.object({ id: z.string().max(200) })

export const confirm = createRoute({
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

export const decline = createRoute({
  method: 'post',
  path: '/api/proposals/{id}/decline',
  tags: ['Outbound'],
  summary: 'Decline a proposal: nothing is sent or done',
  request: { params },
  responses: { 200: json(proposalSchema, 'The declined proposal'), ...refusals(404, 409) },
})
