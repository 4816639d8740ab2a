import { createRoute, z } from '@hono/zod-openapi'
import { json } from './describe.ts'

export const read = createRoute({
  method: 'get',
  path: '/api/proxies',
  tags: ['Settings'],
  summary: 'List addresses that send forwarding headers but are not in TRUSTED_PROXY',
  responses: {
    200: json(
      z.object({ undeclared: z.array(z.string()).readonly() }).openapi('Proxies'),
      'Seen since the start',
    ),
  },
})
