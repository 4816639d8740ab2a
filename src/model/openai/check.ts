import { localeNow, msg, translated, translatedSentence } from '../../language/msg.ts'
import { kindsOfService } from '../kinds.ts'
import { type ContextSize, ModelError } from '../port.ts'
import { attemptOnce } from './attempts.ts'
import { saysNoPath } from './capabilities.ts'
import { attemptOptions, type OpenAiCore, scopeOf, usesResponses } from './core.ts'
import { faultOf } from './failures.ts'
import { isNamed } from './list-entry.ts'
import { type ListedModel, onceAndSoon, requestModels } from './models.ts'

export type CheckStep = { readonly name: string; readonly ok: boolean; readonly detail: string }

export type Checked = {
  readonly ok: boolean
  readonly steps: readonly CheckStep[]
  readonly models: readonly ListedModel[]
}

const SHOWN_MODELS = 8

/**
 * Lists the models to check that the service is reachable, accepts the key and has the model. Costs no
 * tokens. Stops at the first failed step. Rejects only with the reason of `signal`.
 */
export async function checkService(
  core: OpenAiCore,
  model: string | null,
  signal: AbortSignal,
  context: ContextSize | null,
): Promise<Checked> {
  const reachable = { name: msg`reachable`, ok: true, detail: msg`${core.where} is reachable.` }
  try {
    const found = await attemptOnce(
      async (attemptSignal) => {
        const { steps, models } = await stepsOf(core, model, attemptSignal)
        const last = steps.at(-1)
        if (!last?.ok) return { steps, models }
        const described = await withContext(await withApi(core, last, model, attemptSignal), context)
        return { steps: [...steps.slice(0, -1), described], models }
      },
      onceAndSoon(core, signal),
    )
    const steps = [reachable, ...found.steps]
    return { ok: steps.every(({ ok }) => ok), steps, models: found.models }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ModelError)) throw error
    const isRefused = error.kind === 'auth'
    const failed = {
      name: isRefused ? msg`authorised` : msg`reachable`,
      ok: false,
      detail: translatedSentence(error.message),
    }
    return { ok: false, steps: isRefused ? [reachable, failed] : [failed], models: [] }
  }
}

/** The steps after the first. Throws if the service gives no answer that can be read. */
async function stepsOf(core: OpenAiCore, model: string | null, signal: AbortSignal) {
  const authorised = { name: msg`authorised`, ok: true, detail: msg`The key is accepted or not needed.` }
  try {
    const models = await requestModels(core, signal)
    return { steps: [authorised, found(core, models, model)], models }
  } catch (error) {
    const fault = faultOf(error, core.timing.nowMs())
    if (fault === null || fault.status === null) throw error
    // OpenAI answers 403 to a valid but restricted key, naming the missing scopes.
    const mayNotList = fault.status === 403 && /scope|permission/i.test(fault.message)
    if (!mayNotList && fault.status !== 404) {
      const { message } = attemptOptions(core, signal).classify(error).error
      return { steps: [{ name: msg`authorised`, ok: false, detail: message }], models: [] }
    }
    const why = mayNotList
      ? msg`The key is not allowed to list models`
      : msg`The server does not list its models`
    const how = model === null ? msg`Enter the name of one.` : msg`Send a message to check ${model}.`
    return { steps: [authorised, { name: msg`model`, ok: true, detail: `${why}. ${how}` }], models: [] }
  }
}

function found(core: OpenAiCore, models: readonly ListedModel[], model: string | null): CheckStep {
  const ids = models.map(({ id }) => id)
  if (ids.length === 0) {
    const { hint } = kindsOfService[core.kind]
    return { name: msg`model`, ok: false, detail: msg`The server has no models yet. ${translated(hint)}` }
  }
  const available = msg`Available: ${ids.slice(0, SHOWN_MODELS).join(', ')}.`
  if (model === null) return { name: msg`model`, ok: true, detail: available }
  const ok = ids.some((id) => isNamed(id, model))
  const detail = ok ? msg`${model} is available.` : msg`There is no model ${model} here. ${available}`
  return { name: msg`model`, ok, detail }
}

/** Adds to the last step which API answers, and what the server is known to lack. */
async function withApi(
  core: OpenAiCore,
  step: CheckStep,
  model: string | null,
  signal: AbortSignal,
): Promise<CheckStep> {
  // OpenAI has both.
  if (core.isOpenAi) return step
  if (usesResponses(core) && !(await offers(core, '/responses', signal))) {
    if (core.api === 'responses') {
      const detail = msg`${core.where} has no Responses API. Set its API to completions or auto.`
      return { ...step, ok: false, detail }
    }
    core.capabilities.markLacking(core.baseUrl, 'responses')
  }
  const isByResponses = usesResponses(core)
  if (!isByResponses && !(await offers(core, '/chat/completions', signal))) {
    const detail = msg`${core.where} has no chat completions${core.api === 'auto' ? msg` and no Responses API` : ''}. Check its address; it often ends in /v1.`
    return { ...step, ok: false, detail }
  }
  const lacking = model === null ? [] : core.capabilities.lacking(scopeOf(core, { model }))
  const used = isByResponses ? msg`It answers by the Responses API.` : msg`It answers by chat completions.`
  const missing = lacking.length > 0 ? msg` Missing here: ${lacking.join(', ')}.` : ''
  return { ...step, detail: `${step.detail} ${used}${missing}` }
}

/** From here on, a long document fits as well. */
const ROOMY_TOKENS = 32_000

/** Adds to the last step what a small context is enough for. */
async function withContext(step: CheckStep, context: ContextSize | null): Promise<CheckStep> {
  if (context === null) return step
  await context.learn()
  const { tokens } = context
  if (!step.ok || tokens === null) return step
  const size = msg`Its context is ${tokens.toLocaleString(localeNow())} tokens`
  const enough =
    tokens < ROOMY_TOKENS ? msg`: everyday requests work; long documents need a larger context.` : '.'
  return { ...step, detail: `${step.detail} ${size}${enough}` }
}

/** Whether a path exists. The request is empty, so that the server refuses it and the owner pays nothing. */
export async function offers(core: OpenAiCore, path: string, signal: AbortSignal): Promise<boolean> {
  const client = await core.load()
  try {
    await client.post(path, { body: {}, signal })
    return true
  } catch (error) {
    const status = faultOf(error, core.timing.nowMs())?.status
    // Anybody may list the models of OpenRouter, so only this request shows that the key is wrong.
    if (status == null || status === 401) throw error
    return !saysNoPath(error)
  }
}
