import type { ModelId } from '../port.ts'
import { type AttemptOptions, attemptOnce } from './attempts.ts'
import { type Capabilities, refusedFeature } from './capabilities.ts'
import type { LoadClient } from './client.ts'
import type { DataBlocks } from './data-block.ts'
import { classify } from './failures.ts'
import type { Limits, Timing } from './timing.ts'

/** What the ports of one OpenAI-compatible service share. */
export type OpenAiCore = {
  /** Names the service in ModelId: `openai`, or the host of a compatible server. */
  readonly provider: string
  /** The service's origin, for messages. */
  readonly where: string
  readonly baseUrl: string
  readonly load: LoadClient
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

/** One request with a single answer, under all the limits. */
export function requestOnce<T>(
  core: OpenAiCore,
  signal: AbortSignal,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return attemptOnce(send, attemptOptions(core, signal))
}

/** What a lack is remembered for: another model of the same server may differ. */
export function scopeOf(core: OpenAiCore, { model }: Pick<ModelId, 'model'>): string {
  return `${core.baseUrl} ${model}`
}

/**
 * After a request that the service refused: gives up the refinement that it complains about, so that the request
 * can be built again without it. Throws the error itself where there is no such, or it had been given up before.
 */
export function giveUpRefused(core: OpenAiCore, scope: string, error: unknown): void {
  const feature = refusedFeature(error)
  if (feature === null || core.capabilities.lacks(scope, feature)) throw error
  core.capabilities.markLacking(scope, feature)
}
