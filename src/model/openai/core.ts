import { english } from '../../language/message.ts'
import { type Capability, CapabilityMissing, type ModelId } from '../port.ts'
import type { ServiceKind } from '../words.ts'
import { type AttemptOptions, attemptOnce } from './attempts.ts'
import { type Capabilities, refusedFeatures, saysMissing, saysNoPath, saysTemplate } from './capabilities.ts'
import type { LoadClient } from './client.ts'
import type { DataBlocks } from './data-block.ts'
import type { ModelApi } from './defaults.ts'
import { classify } from './failures.ts'
import type { Limits, Timing } from './timing.ts'

/** Shared by the ports of one OpenAI-compatible service. */
export type OpenAiCore = {
  /** Names the service in ModelId: `openai`, or the host of a compatible server. */
  readonly provider: string
  /** Origin of the service, for messages. */
  readonly where: string
  readonly baseUrl: string
  readonly kind: ServiceKind
  readonly apiKey: string | null
  /** OpenAI's own service. */
  readonly isOpenAi: boolean
  readonly api: ModelApi
  readonly load: LoadClient
  /** To redact; empty ones do not count. */
  readonly secrets: readonly string[]
  readonly timing: Timing
  readonly limits: Limits
  readonly capabilities: Capabilities
  readonly dataBlock: DataBlocks
  readonly splitsRoleTokens: boolean
}

export function attemptOptions(core: OpenAiCore, signal: AbortSignal): AttemptOptions {
  const { timing, limits, secrets, where } = core
  return {
    signal,
    timing,
    limits,
    classify: (error) => classify(error, { nowMs: timing.nowMs(), secrets, where }),
  }
}

/** Runs a request with a single result, under the retry and time limits. */
export function requestOnce<T>(
  core: OpenAiCore,
  signal: AbortSignal,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return attemptOnce(send, attemptOptions(core, signal))
}

/** The scope of a missing feature: other models of the same server may have it. */
export function scopeOf(core: OpenAiCore, { model }: Pick<ModelId, 'model'>): string {
  return `${core.baseUrl} ${model}`
}

/** The error for a feature that the service lacks. */
export function missing({ where }: OpenAiCore, capability: Capability): CapabilityMissing {
  return new CapabilityMissing(
    capability,
    english`The model service at ${where} does not support ${capability}.`,
  )
}

/** Handles a failed request: marks the feature as missing if the service lacks it, and throws. */
export function orMissing(core: OpenAiCore, capability: Capability, id: Pick<ModelId, 'model'>) {
  return (error: unknown): never => {
    if (!saysMissing(error)) throw error
    core.capabilities.markLacking(scopeOf(core, id), capability)
    throw missing(core, capability)
  }
}

/** Whether requests go to the Responses API: as chosen, else unless this server is known to lack it. */
export function usesResponses({ api, capabilities, baseUrl }: OpenAiCore): boolean {
  return api === 'auto' ? !capabilities.lacks(baseUrl, 'responses') : api === 'responses'
}

/** Like `orMissing`, for the Responses API, which is a matter of the server: it lacks it, or fails at its conversations. */
export function orNoResponses(core: OpenAiCore) {
  return (error: unknown): never => {
    if (!saysNoPath(error) && !(core.api === 'auto' && saysTemplate(error))) throw error
    core.capabilities.markLacking(core.baseUrl, 'responses')
    const message = english`The model service at ${core.where} has no Responses API. Set its API to completions or auto.`
    throw new CapabilityMissing('responses', message)
  }
}

/** Sends a request, and sends it again without each optional feature that the service refuses. */
export async function sendSupported<P, A>(
  core: OpenAiCore,
  scope: string,
  paramsOf: () => P,
  send: (params: P) => Promise<A>,
): Promise<{ readonly params: P; readonly answer: A }> {
  for (;;) {
    const params = paramsOf()
    try {
      return { params, answer: await send(params) }
    } catch (error) {
      const feature = refusedFeatures(error).find((each) => !core.capabilities.lacks(scope, each))
      if (feature === undefined) throw error
      core.capabilities.markLacking(scope, feature)
    }
  }
}
