import type { Http } from './http.ts'
import { asObject, booleanField, numberField, optionalString } from './json.ts'

/** How memories are recalled for a turn. */
export type MemoryConfig = {
  readonly retrieveTimeoutMs: number
  readonly contextTurns: number
  readonly maxInjectedTokens: number
  readonly maxInjectedMemories: number
  /** 0..1 */
  readonly relevanceThreshold: number
  /** 0..1 */
  readonly duplicateThreshold: number
  readonly strengthHalfLifeDays: number
  readonly arbitrator: {
    readonly enabled: boolean
    /** Null means the utility model. */
    readonly model: string | null
    readonly timeoutMs: number
  }
}

function parseMemoryConfig(answer: unknown): MemoryConfig {
  const object = asObject(answer, 'memory settings')
  const arbitrator = asObject(object.arbitrator, 'arbitrator')
  return {
    retrieveTimeoutMs: numberField(object, 'retrieveTimeoutMs'),
    contextTurns: numberField(object, 'contextTurns'),
    maxInjectedTokens: numberField(object, 'maxInjectedTokens'),
    maxInjectedMemories: numberField(object, 'maxInjectedMemories'),
    relevanceThreshold: numberField(object, 'relevanceThreshold'),
    duplicateThreshold: numberField(object, 'duplicateThreshold'),
    strengthHalfLifeDays: numberField(object, 'strengthHalfLifeDays'),
    arbitrator: {
      enabled: booleanField(arbitrator, 'enabled'),
      model: optionalString(arbitrator, 'model'),
      timeoutMs: numberField(arbitrator, 'timeoutMs'),
    },
  }
}

export async function fetchMemoryConfig(http: Http): Promise<MemoryConfig> {
  return parseMemoryConfig(await http('GET', '/memory-config'))
}

/** Throws Refused with the path of each invalid field. */
export async function saveMemoryConfig(http: Http, config: MemoryConfig): Promise<MemoryConfig> {
  return parseMemoryConfig(await http('PUT', '/memory-config', { body: config }))
}
