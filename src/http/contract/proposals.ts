import { z } from '@hono/zod-openapi'
import { answer, tagged } from './describe.ts'

const { get, post } = tagged('Outbound')

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
    /** What the owner chooses from; null if there is no choice. */
    choices: z
      .array(
        z.object({ id: z.string(), kind: z.enum(['memory', 'message']), text: z.string(), at: z.string() }),
      )
      .readonly()
      .nullable(),
  })
  .openapi('Proposal')

export const list = get('/api/proposals', {
  summary: 'List the texts and deeds that wait for confirmation by the owner',
  responses: answer(z.object({ proposals: z.array(proposalSchema) }), 'Open proposals, oldest first'),
})

const params = z.object({ id: z.string().max(200) })

const choice = z.object({
  /** Ids of choices; needed only if there are several. */
  chosen: z.array(z.string().max(200)).max(50).optional(),
})

export const confirm = post('/api/proposals/{id}/confirm', {
  summary: 'Confirm a proposal: send its text or do its deed, once, before it expires',
  request: { params, body: { content: { 'application/json': { schema: choice } } } },
  responses: answer(proposalSchema, 'The proposal; a deed has its outcome', 400, 404, 409),
})

export const decline = post('/api/proposals/{id}/decline', {
  summary: 'Decline a proposal: nothing is sent or done',
  request: { params },
  responses: answer(proposalSchema, 'The declined proposal', 404, 409),
})
