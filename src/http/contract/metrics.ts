import { z } from '@hono/zod-openapi'
import { refusals, tagged } from './describe.ts'

const { get } = tagged('Service')

export const metricsRoute = get('/metrics', {
  summary: 'Read the metrics, directly from the same machine or with METRICS_TOKEN',
  description: 'A session does not help. Anyone else gets the answer of an address that does not exist.',
  security: [],
  responses: {
    200: {
      description: 'The text format of Prometheus',
      content: { 'text/plain': { schema: z.string() } },
    },
    ...refusals(401, 404),
  },
})
