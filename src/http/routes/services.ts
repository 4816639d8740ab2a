import { english } from '../../language/message.ts'
import { msg, translated } from '../../language/msg.ts'
import { kindsOfService } from '../../model/kinds.ts'
import type { Connection } from '../../model/openai/openai.ts'
import type { PlannedService } from '../../model/plan.ts'
import { ModelError, type ModelService } from '../../model/port.ts'
import { MAIN, type ModelUse, modelUses, serviceEntrySchema, serviceKinds } from '../../model/words.ts'
import { createServiceList } from '../../settings/service-list.ts'
import { MAX_SERVICES } from '../../settings/service-settings.ts'
import { list, models, remove, type ServiceList, type ServiceTest, save, test } from '../contract/services.ts'
import type { CoreDeps } from '../features.ts'
import { goneSignal, type Routes } from '../server/env.ts'
import { conflict, invalidField, Refusal, unknown } from '../server/problem.ts'

export function serviceRoutes(routes: Routes, { settings, models: holder, stepUp }: CoreDeps): void {
  const services = createServiceList(settings, holder.plan)

  function existing(id: string): PlannedService {
    const found = holder.plan().services.find((service) => service.id === id)
    if (found === undefined) throw unknown('service')
    return found
  }

  routes.openapi(list, (c) => {
    const { services: planned, uses, fallback } = holder.plan()
    const model = holder.current()
    return c.json(
      {
        kinds: serviceKinds.map((kind) => {
          const { title, about, baseUrl, needsKey, hint } = kindsOfService[kind]
          return {
            kind,
            title: translated(title),
            about: translated(about),
            baseUrl,
            needsKey,
            hint: translated(hint),
          }
        }),
        services: planned.map(shown),
        uses: modelUses.map((use) => ({
          use,
          ...uses[use],
          ...answering(use, model, holder.knows(uses[use].service)),
        })),
        fallback: [...fallback],
      },
      200,
    )
  })

  routes.openapi(save, async (c) => {
    const { id } = c.req.valid('param')
    const named = id === MAIN ? null : serviceEntrySchema.shape.id.safeParse(id)
    if (named?.success === false)
      throw invalidField('id', named.error.issues[0]?.message ?? msg`is not valid`)
    switch (await services.save(id, c.req.valid('json'))) {
      case 'key_required':
        throw invalidField('apiKey', msg`is required for this kind of service`)
      case 'key_required_again':
        throw invalidField('apiKey', msg`is required again, because a key is never sent to another address`)
      case 'too_many':
        throw conflict(
          'too_many',
          msg`You have ${MAX_SERVICES} services besides the first. Remove one first.`,
        )
      case 'saved':
        return c.json(shown(existing(id)), 200)
    }
  })

  routes.openapi(remove, async (c) => {
    const outcome = await services.remove(c.req.valid('param').id)
    switch (outcome.status) {
      case 'removed':
        return c.body(null, 204)
      case 'unknown':
        throw unknown('service')
      case 'main':
        throw conflict(
          'main_service',
          msg`The service main cannot be deleted. Change its address or its key instead.`,
        )
      case 'in_use':
        throw conflict('in_use', inUseText(outcome.by))
    }
  })

  routes.openapi(test, async (c) => {
    const wanted = c.req.valid('json')
    const signal = goneSignal(c)
    if ('id' in wanted) {
      existing(wanted.id)
      const { uses, contextTokens } = holder.plan()
      const { service, model } = uses.chat
      const connection = holder.connectionTo(wanted.id)
      if (connection === undefined) return c.json(builtinTest(), 200)
      const chat = service === wanted.id ? model : null
      return c.json(await inspect(connection, chat, signal, contextTokens), 200)
    }
    // It makes the service ask any address.
    stepUp.requireProof(c)
    const { kind, baseUrl, apiKey, model = null } = wanted
    const connection = holder.connect({ kind, baseUrl, apiKey: apiKey || null, api: 'auto' })
    return c.json(await inspect(connection, model, signal), 200)
  })

  routes.openapi(models, async (c) => {
    const { id } = existing(c.req.valid('param').id)
    try {
      const found = await holder.connectionTo(id)?.models(goneSignal(c))
      return c.json({ models: [...(found ?? [])] }, 200)
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      throw new Refusal(502, `model_${error.kind}`, error.message)
    }
  })
}

function inUseText(by: ModelUse | 'fallback'): string {
  return by === 'fallback'
    ? msg`It is in the list for when the chat model fails. Remove it there first.`
    : msg`It is used for ${translated(NAMES_OF_USES[by])}. Choose another service there first.`
}

const NAMES_OF_USES: Readonly<Record<ModelUse, string>> = {
  chat: english`the chat`,
  utility: english`background work`,
  embedding: english`search by meaning`,
  transcription: 'transcription',
  speech: english`reading aloud`,
  realtime: english`phone calls`,
}

function shown({ id, kind, title, baseUrl, api, apiKey }: PlannedService) {
  return { id, kind, title, baseUrl, api, hasKey: apiKey !== null }
}

/** Whether there is a port for a use, and which model answers in the chat. */
function answering(use: ServiceList['uses'][number]['use'], model: ModelService, isKnown: boolean) {
  switch (use) {
    case 'chat':
      return { model: model.text.id.model, available: isKnown }
    case 'transcription':
    case 'speech':
      return { available: model.speech?.ids[use] != null }
    default:
      return { available: model[use] !== null }
  }
}

async function inspect(
  connection: Connection,
  model: string | null,
  signal: AbortSignal,
  contextTokens?: number,
): Promise<ServiceTest> {
  const { ok, steps, models, can } = await connection.inspect(model, signal, contextTokens)
  return { ok, steps: [...steps], models, can }
}

/** The service main, while nothing is set. */
const builtinTest = (): ServiceTest => ({
  ok: true,
  steps: [{ name: msg`builtin`, ok: true, detail: msg`Nothing is set here, so the builtin model answers.` }],
  models: [],
  can: [],
})
