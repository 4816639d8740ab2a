import * as z from 'zod'
import { type ContextSize, ModelError } from '../port.ts'
import { attemptOnce } from './attempts.ts'
import { saysNoPath } from './capabilities.ts'
import { isNamed } from './context-sizes.ts'
import { attemptOptions, type OpenAiCore, scopeOf, usesResponses } from './core.ts'
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
  context: ContextSize,
): Promise<{ ok: boolean; steps: CheckStep[] }> {
  const options = attemptOptions(core, signal)
  const deadlineMs = Math.min(core.limits.deadlineMs, CHECK_DEADLINE_MS)
  const limits = { ...core.limits, attempts: 1, deadlineMs }
  try {
    const found = await attemptOnce(
      async (attemptSignal) => {
        const steps = await listModels(core, model, attemptSignal)
        const last = steps.at(-1)
        return last?.ok
          ? [
              ...steps.slice(0, -1),
              await withContext(await withApi(core, last, model, attemptSignal), context),
            ]
          : steps
      },
      { ...options, limits },
    )
    const reachable = { name: 'reachable', ok: true, detail: `${core.where} is reachable.` }
    const steps = [reachable, ...found]
    return { ok: steps.every(({ ok }) => ok), steps }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ModelError)) throw error
    return { ok: false, steps: [{ name: 'reachable', ok: false, detail: error.message }] }
  }
}

/** The steps after the first. Throws if the service gives no answer that can be read. */
async function listModels(core: OpenAiCore, model: string, signal: AbortSignal): Promise<CheckStep[]> {
  const client = await core.load()
  const authorised = { name: 'authorised', ok: true, detail: 'The key is accepted or not needed.' }
  try {
    const { data } = modelsSchema.parse(await client.get('/models', { signal }))
    const ids = data.map(({ id }) => id)
    const others = ids.slice(0, SHOWN_MODELS).join(', ')
    const isListed = ids.some((id) => isNamed(id, model))
    const detail = isListed
      ? `${model} is available.`
      : `There is no model ${model} here. ${others ? `Available: ${others}.` : 'No models are available.'}`
    return [authorised, { name: 'model', ok: isListed, detail }]
  } catch (error) {
    const fault = faultOf(error, core.timing.nowMs())
    if (fault === null || fault.status === null) throw error
    // OpenAI answers 403 to a valid but restricted key, naming the missing scopes.
    const mayNotList = fault.status === 403 && /scope|permission/i.test(fault.message)
    if (!mayNotList && fault.status !== 404) {
      const { message } = attemptOptions(core, signal).classify(error).error
      return [{ name: 'authorised', ok: false, detail: message }]
    }
    const why = mayNotList ? 'The key is not allowed to list models' : 'The server does not list its models'
    return [authorised, { name: 'model', ok: true, detail: `${why}. Send a message to check ${model}.` }]
  }
}

/** Adds to the last step which API answers, and what the server is known to lack. */
async function withApi(
  core: OpenAiCore,
  step: CheckStep,
  model: string,
  signal: AbortSignal,
): Promise<CheckStep> {
  // OpenAI has both.
  if (core.isOpenAi) return step
  if (usesResponses(core) && !(await offers(core, '/responses', signal))) {
    if (core.api === 'responses') {
      const detail = `${core.where} has no Responses API. Set MODEL_API to completions or auto.`
      return { ...step, ok: false, detail }
    }
    core.capabilities.markLacking(core.baseUrl, 'responses')
  }
  const isByResponses = usesResponses(core)
  if (!isByResponses && !(await offers(core, '/chat/completions', signal))) {
    const detail = `${core.where} has no chat completions${core.api === 'auto' ? ' and no Responses API' : ''}. Check OPENAI_BASE_URL; it often ends in /v1.`
    return { ...step, ok: false, detail }
  }
  const lacking = core.capabilities.lacking(scopeOf(core, { model }))
  const used = isByResponses ? 'It answers by the Responses API.' : 'It answers by chat completions.'
  const missing = lacking.length > 0 ? ` Missing here: ${lacking.join(', ')}.` : ''
  return { ...step, detail: `${step.detail} ${used}${missing}` }
}

/** From here on, a long document fits as well. */
const ROOMY_TOKENS = 32_000

/** Adds to the last step what a small context is enough for. */
async function withContext(step: CheckStep, context: ContextSize): Promise<CheckStep> {
  await context.learn()
  const { tokens } = context
  if (!step.ok || tokens === null) return step
  const size = `Its context is ${tokens.toLocaleString('en')} tokens`
  const enough = tokens < ROOMY_TOKENS ? ': everyday requests work; long documents need a larger model.' : '.'
  return { ...step, detail: `${step.detail} ${size}${enough}` }
}

/** Whether a path exists. The request is empty, so that the server refuses it and the owner pays nothing. */
async function offers(
  core: OpenAiCore,
  path: '/responses' | '/chat/completions',
  signal: AbortSignal,
): Promise<boolean> {
  const client = await core.load()
  try {
    await client.post(path, { body: {}, signal })
    return true
  } catch (error) {
    if (faultOf(error, core.timing.nowMs())?.status == null) throw error
    return !saysNoPath(error)
  }
}
