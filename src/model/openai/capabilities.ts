import { leftOfWait } from '../../clock/waits.ts'
import type { Capability } from '../port.ts'
import { faultOf, type ServiceFault } from './failures.ts'

/** What a compatible server may lack: ports, and refinements of a request that it can do without. */
export type Feature = Capability | 'encrypted_reasoning' | 'strict_tools' | 'json_schema'

/** What services turned out to lack, by base URL and model, for as long as it is believed. */
export type Capabilities = {
  lacks(scope: string, feature: Feature): boolean
  markLacking(scope: string, feature: Feature): void
}

const BELIEVED_MS = 6 * 60 * 60 * 1000

/** Servers are upgraded and restarted with other options: a lack is forgotten after `ttlMs`, and tried again. */
export function createCapabilities(options: { nowMs: () => number; ttlMs?: number }): Capabilities {
  const { nowMs, ttlMs = BELIEVED_MS } = options
  const lackingUntilMs = new Map<string, number>()
  const keyOf = (scope: string, feature: Feature) => `${feature} ${scope}`
  return {
    lacks(scope, feature) {
      const key = keyOf(scope, feature)
      const untilMs = lackingUntilMs.get(key)
      if (untilMs === undefined) return false
      if (leftOfWait(untilMs, { nowMs: nowMs(), longestMs: ttlMs }) > 0) return true
      lackingUntilMs.delete(key)
      return false
    },
    markLacking: (scope, feature) => void lackingUntilMs.set(keyOf(scope, feature), nowMs() + ttlMs),
  }
}

const UNSUPPORTED =
  /not (?:yet )?(?:supported|implemented|available|permitted|recogni[sz]ed)|unsupported|unrecogni[sz]ed|unknown|invalid|does ?n[o']t support|extra inputs/i

/** Whether a fault of a whole endpoint says that the service does not have it. */
export function saysMissing(error: unknown): boolean {
  const fault = faultOf(error, 0)
  if (!fault) return false
  if (fault.status === 405 || fault.status === 501) return true
  // A model that the service does not know is a wrong setting, not a missing endpoint.
  if (fault.status === 404) return fault.code !== 'model_not_found'
  return fault.status === 400 && UNSUPPORTED.test(fault.message)
}

const REFINEMENTS: readonly (readonly [Feature, RegExp])[] = [
  [
    'encrypted_reasoning',
    /^include|encrypted content is not supported|reasoning\.encrypted_content|['"`]include['"`]/i,
  ],
  ['strict_tools', /^tools\S*strict|['"`]strict['"`]|\bstrict (?:mode|tools?|functions?)\b/i],
  ['json_schema', /^text\b|json_schema|text\.format|response_format|structured outputs?/i],
]

/** The refinement of a request that a 400 complains about; null where it complains about something else. */
export function refusedFeature(error: unknown): Feature | null {
  const fault = clientFault(error)
  if (!fault) return null
  const words = `${fault.param ?? ''} ${fault.message}`.trim()
  return REFINEMENTS.find(([, pattern]) => pattern.test(words))?.[0] ?? null
}

const UNREADABLE =
  /encrypted[_ ]content[^.]{0,200}(?:could not|cannot|can't|invalid|fail|verif|decrypt|decod|pars)|invalid[_ ]encrypted/i

/** Whether the service cannot read the opaque items that it once made: another key, another region, a new version. */
export function refusesOpaque(error: unknown): boolean {
  const fault = clientFault(error)
  return fault !== null && UNREADABLE.test(`${fault.code ?? ''} ${fault.message}`)
}

function clientFault(error: unknown): ServiceFault | null {
  const fault = faultOf(error, 0)
  return fault?.status === 400 || fault?.status === 422 ? fault : null
}
