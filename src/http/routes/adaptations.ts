import {
  adaptationIdSchema,
  type CHANNELS,
  MAX_ADAPTATIONS,
  MAX_TOTAL_CHARS,
} from '../../adaptations/adaptation.ts'
import { msg } from '../../language/msg.ts'
import { list, preview, read, reload, remove, save } from '../contract/adaptations.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, invalidField, Refusal } from '../server/problem.ts'

export function adaptationRoutes(routes: Routes, { adaptations, agent, phone, model }: RouteDeps): void {
  /** The exact instructions for the model on a channel. */
  function instructionsFor(channel: (typeof CHANNELS)[number]): string {
    if (channel === 'voice') return phone.instructions()
    const instructions = agent.instructions(channel)
    return model().text.asSent?.(instructions) ?? instructions
  }

  routes.openapi(list, (c) => c.json({ adaptations: adaptations.list() }, 200))
  routes.openapi(read, (c) => {
    const found = adaptations.get(c.req.valid('param').id)
    if (!found) throw unknown()
    return c.json(found, 200)
  })
  routes.openapi(save, async (c) => {
    const id = adaptationIdSchema.safeParse(c.req.valid('param').id)
    if (!id.success)
      throw invalidField(
        'id',
        msg`must start with a letter or digit, then only letters, digits and . _ : @ - (at most 100 characters)`,
        'invalid_id',
      )
    const outcome = await adaptations.save(id.data, c.req.valid('json'))
    switch (outcome.status) {
      case 'created':
        return c.json(outcome.adaptation, 201)
      case 'updated':
        return c.json(outcome.adaptation, 200)
      case 'no_content':
        throw invalidField('content', msg`is required for a new instruction`)
      case 'too_many':
        throw conflict('too_many', msg`There are already ${MAX_ADAPTATIONS} instructions. Delete one first.`)
      case 'too_long':
        throw conflict(
          'too_long',
          msg`All instructions together may have at most ${MAX_TOTAL_CHARS} characters.`,
        )
    }
  })
  routes.openapi(remove, async (c) => {
    if (!(await adaptations.remove(c.req.valid('param').id))) throw unknown()
    return c.body(null, 204)
  })
  routes.openapi(preview, (c) => c.json({ instructions: instructionsFor(c.req.valid('query').channel) }, 200))
  routes.openapi(reload, async (c) => {
    const { loaded, skipped } = await adaptations.reload()
    return c.json({ loaded, skipped }, 200)
  })
}

function unknown(): Refusal {
  return new Refusal(404, 'unknown_adaptation', msg`There is no such instruction.`)
}
