import { z } from '@hono/zod-openapi'
import { answer, tagged } from './describe.ts'

const { get } = tagged('Service')

const checkSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    status: z.enum(['ok', 'warning', 'problem']),
    detail: z.string().describe('What was found'),
    remedy: z.string().nullable().describe('What to do; null if there is nothing to do'),
  })
  .openapi('SecurityCheck')

export type SecurityCheck = z.output<typeof checkSchema>

export const securityRoute = get('/api/security', {
  summary: 'Check what protects the service, the worst first',
  responses: answer(z.object({ checks: z.array(checkSchema) }), 'The checks'),
})
