import { z } from '@hono/zod-openapi'
import { json, tagged } from './describe.ts'

const { get } = tagged('Settings')

export const read = get('/api/proxies', {
  summary: 'List addresses that send forwarding headers but are not in TRUSTED_PROXY',
  responses: {
    200: json(
      z.object({ undeclared: z.array(z.string()).readonly() }).openapi('Proxies'),
      'Seen since the start',
    ),
  },
})
