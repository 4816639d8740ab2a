import type { Capability } from '../port.ts'
import { faultOf, saysNoModel } from './failures.ts'

/** Features that a compatible server may lack: whole ports, and optional parts of a request. */
export type Feature = (typeof FEATURES)[number] | Capability

const FEATURES = [
  'compaction',
  'encrypted_reasoning',
  'strict_tools',
  'stream_usage',
  'json_schema',
  'json_object',
  'output_limit',
] as const

/** A server may be upgraded or reconfigured. */
const TTL_MS = 6 * 60 * 60 * 1000

export type Capabilities = ReturnType<typeof createCapabilities>

/** Remembers for a while which features a server lacks. A scope is a base URL and a model. */
export function createCapabilities(nowMs: () => number) {
  const markedAtMs = new Map<string, number>()
  const keyOf = (scope: string, feature: Feature) => `${feature} ${scope}`
  return {
    lacks(scope: string, feature: Feature): boolean {
      const atMs = markedAtMs.get(keyOf(scope, feature))
      return atMs !== undefined && Math.abs(nowMs() - atMs) < TTL_MS
    },
    /** The missing features of a scope, in words. */
    lacking(scope: string): string[] {
      return FEATURES.filter((feature) => this.lacks(scope, feature)).map((each) => each.replace('_', ' '))
    },
    markLacking: (scope: string, feature: Feature) => void markedAtMs.set(keyOf(scope, feature), nowMs()),
  }
}

const UNSUPPORTED =
  /not (?:yet )?(?:supported|implemented|available|permitted|recogni[sz]ed)|unsupported|unrecogni[sz]ed|unknown|invalid|does ?n[o']t support|extra inputs/i

/** Whether the fault means that the endpoint does not exist. */
export function saysMissing(error: unknown): boolean {
  const fault = faultOf(error, 0)
  if (!fault) return false
  if (fault.status === 405 || fault.status === 501) return true
  // An unknown model is a wrong setting, not a missing endpoint.
  if (fault.status === 404) return fault.code !== 'model_not_found'
  return fault.status === 400 && UNSUPPORTED.test(fault.message)
}

/** Whether the fault means that the server has no such path. Stricter than `saysMissing`: a 400 has read it. */
export function saysNoPath(error: unknown): boolean {
  const fault = faultOf(error, 0)
  if (fault?.status === 405 || fault?.status === 501) return true
  return fault?.status === 404 && !saysNoModel(fault)
}

/**
 * Whether the template of a local model refuses the order of the messages: many servers turn each time that goes before
 * a message into another system message. Chat completions suit the strictest template.
 */
export function saysTemplate(error: unknown): boolean {
  return /\bjinja\b|roles must alternate/i.test(faultOf(error, 0)?.message ?? '')
}

const OPTIONAL_FEATURES: readonly (readonly [Feature, RegExp])[] = [
  [
    'encrypted_reasoning',
    /^include|encrypted content is not supported|reasoning\.encrypted_content|['"`]include['"`]/i,
  ],
  ['strict_tools', /^tools\S*strict|['"`]strict['"`]|\bstrict (?:mode|tools?|functions?)\b/i],
  // A local model whose context is smaller than the limit refuses it.
  ['output_limit', /\bmax_(?:output_|completion_)?tokens\b/i],
  ['stream_usage', /stream_options|include_usage/i],
  ['json_schema', /^text\b|json_schema|text\.format|response_format|structured outputs?/i],
  // Asked for once a schema was refused.
  ['json_object', /json_object|response_format/i],
]

/** The optional features that a 400 or 422 may complain about, the likeliest first. */
export function refusedFeatures(error: unknown): Feature[] {
  const fault = faultOf(error, 0)
  if (fault?.status !== 400 && fault?.status !== 422) return []
  const words = `${fault.param ?? ''} ${fault.message}`.trim()
  return OPTIONAL_FEATURES.filter(([, pattern]) => pattern.test(words)).map(([feature]) => feature)
}
