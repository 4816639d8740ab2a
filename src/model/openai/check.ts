import * as z from 'zod'
import { ModelError } from '../port.ts'
import { attemptOnce } from './attempts.ts'
import { attemptOptions, type OpenAiCore } from './core.ts'
import { faultOf } from './failures.ts'

export type CheckStep = { readonly name: string; readonly ok: boolean; readonly detail: string }

const modelsSchema = z.object({ data: z.array(z.object({ id: z.string() })) })
const CHECK_DEADLINE_MS = 10_000
const SHOWN_MODELS = 8

/**
 * Lists the models to check that the service is reachable, accepts the key and has the model. Costs no
 * tokens. Stops at the first failed step. Rejects only with the reason of `signal`.
 */
export async function checkService(
  core: OpenAiCore,
  model: string,
  signal: AbortSignal,
): Promise<{ ok: boolean; steps: CheckStep[] }> {
  const { where } = core
  const options = attemptOptions(core, signal)
  const limits = {
    ...core.limits,
    attempts: 1,
    deadlineMs: Math.min(core.limits.deadlineMs, CHECK_DEADLINE_MS),
  }
  const found = await attemptOnce((attemptSignal) => listModels(core, attemptSignal), {
    ...options,
    limits,
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    if (error instanceof ModelError) return { status: null, error, ids: null, mayNotList: false }
    throw error
  })
  const steps: CheckStep[] = []
  const add = (name: string, ok: boolean, detail: string) => steps.push({ name, ok, detail })
  const end = () => ({ ok: steps.every(({ ok }) => ok), steps })

  if (found.status === null) {
    add('reachable', false, found.error?.message ?? `${where} does not answer.`)
    return end()
  }
  add('reachable', true, `${where} is reachable.`)
  if (found.error?.kind === 'auth' && !found.mayNotList) {
    add('authorised', false, found.error.message)
    return end()
  }
  if (found.error && found.status !== 404 && !found.mayNotList) {
    add('authorised', false, found.error.message)
    return end()
  }
  add('authorised', true, 'The key is accepted or not needed.')
  if (found.ids === null) {
    const why = found.mayNotList
      ? 'The key is not allowed to list models'
      : 'The server does not list its models'
    add('model', true, `${why}. Send a message to check ${model}.`)
  } else if (found.ids.includes(model)) {
    add('model', true, `${model} is available.`)
  } else {
    const others = found.ids.slice(0, SHOWN_MODELS).join(', ')
    add(
      'model',
      false,
      `There is no model ${model} here. ${others ? `Available: ${others}.` : 'No models are available.'}`,
    )
  }
  return end()
}

type Found = {
  readonly status: number | null
  readonly error: ModelError | null
  readonly ids: readonly string[] | null
  readonly mayNotList: boolean
}

async function listModels(core: OpenAiCore, signal: AbortSignal): Promise<Found> {
  const client = await core.load()
  try {
    const { data } = modelsSchema.parse(await client.get('/models', { signal }))
    return { status: 200, error: null, ids: data.map(({ id }) => id), mayNotList: false }
  } catch (error) {
    const fault = faultOf(error, core.timing.nowMs())
    if (fault?.status === undefined || fault.status === null) throw error
    const failure = attemptOptions(core, signal).classify(error)
    // OpenAI answers 403 to a valid but restricted key, naming the missing scopes.
    const mayNotList = fault.status === 403 && /scope|permission/i.test(fault.message)
    return { status: fault.status, error: failure.error, ids: null, mayNotList }
  }
}
