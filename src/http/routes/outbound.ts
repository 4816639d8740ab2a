import { createRoute, z } from '@hono/zod-openapi'
import type { Append } from '../../../ledger/event.ts'
import type { RouteModule } from '../app.ts'
import { json, refusals } from '../describe.ts'
import { createRoutes } from '../env.ts'
import { Refusal } from '../problem.ts'

const outboundSchema = z
  .object({
    heldSince: z
      .string()
      .nullable()
      .describe('When the ledger was imported or restored, or went on after a loss; null while not held'),
  })
  .openapi('Outbound')

const read = createRoute({
  method: 'get',
  path: '/api/outbound',
  tags: ['Outbound'],
  summary: 'Whether outbound work waits for the owner, as it does after an import or a restore',
  responses: { 200: json(outboundSchema, 'Since when it waits') },
})

const release = createRoute({
  method: 'post',
  path: '/api/outbound/release',
  tags: ['Outbound'],
  summary: 'Lets outbound work that waits after an import, a restore or a loss go on',
  responses: { 200: json(outboundSchema, 'It waits no more'), ...refusals(409) },
})

/** The hold on texts, calls and tasks that an imported or restored ledger begins with, and one that lost events. */
export function outboundRoutes(deps: {
  readonly append: Append
  /** What holds it: the last import or loss that was not released. */
  readonly held: () => { readonly heldSeq: number; readonly heldAt: string } | undefined
}): RouteModule {
  const routes = createRoutes()
  routes.openapi(read, (c) => c.json({ heldSince: deps.held()?.heldAt ?? null }, 200))
  routes.openapi(release, async (c) => {
    const hold = deps.held()
    if (!hold) throw new Refusal(409, 'not_held', 'Outbound work is not held.')
    await deps.append([
      {
        type: 'outbound.released',
        actor: 'owner',
        channel: 'system',
        causedBy: hold.heldSeq,
        // Pressed twice, it is released once.
        key: `outbound.released:${hold.heldSeq}`,
        facts: {},
      },
    ])
    return c.json({ heldSince: null }, 200)
  })
  return { routes }
}
