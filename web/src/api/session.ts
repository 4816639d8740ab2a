import type { Http } from './http.ts'
import { asObject, booleanField, isObject, type JsonObject, numberField, optionalString } from './json.ts'

export type Usage = {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
}

/** The context that the next turn continues from. */
export type SessionContext = {
  readonly active: boolean
  readonly canCompact: boolean
  readonly compactThresholdTokens: number
  /** 0..1 */
  readonly thresholdUtilization: number
  /** Null before the first completed turn. */
  readonly usageRecordedAt: string | null
  readonly compactionInFlight: boolean
  /** True if a compacted context replaces the earlier turns. */
  readonly replacementRetained: boolean
  readonly latestCompaction: {
    readonly at: string
    readonly source: string
    readonly inputTokensBefore: number
    readonly inputTokensAfter: number
  } | null
  readonly capsule: { readonly active: boolean; readonly updatedAt: string | null }
}

/** Throws UnexpectedAnswer if a count is missing. */
export function parseUsage(value: unknown): Usage {
  const object = asObject(value, 'usage')
  return {
    inputTokens: numberField(object, 'inputTokens'),
    outputTokens: numberField(object, 'outputTokens'),
    cachedTokens: numberField(object, 'cachedTokens'),
  }
}

function parseCompaction(value: JsonObject): SessionContext['latestCompaction'] {
  return {
    at: optionalString(value, 'at') ?? '',
    source: optionalString(value, 'source') ?? '',
    inputTokensBefore: numberField(value, 'inputTokensBefore'),
    inputTokensAfter: numberField(value, 'inputTokensAfter'),
  }
}

function parseContext(value: unknown): SessionContext {
  const object = asObject(value, 'context')
  const capsule = asObject(object.capsule, 'capsule')
  return {
    active: booleanField(object, 'active'),
    canCompact: booleanField(object, 'canCompact'),
    compactThresholdTokens: numberField(object, 'compactThresholdTokens'),
    thresholdUtilization: numberField(object, 'thresholdUtilization'),
    usageRecordedAt: optionalString(object, 'usageRecordedAt'),
    compactionInFlight: booleanField(object, 'compactionInFlight'),
    replacementRetained: booleanField(object, 'replacementRetained'),
    latestCompaction: isObject(object.latestCompaction) ? parseCompaction(object.latestCompaction) : null,
    capsule: { active: booleanField(capsule, 'active'), updatedAt: optionalString(capsule, 'updatedAt') },
  }
}

export async function fetchContext(http: Http): Promise<SessionContext> {
  return parseContext(await http('GET', '/api/session/context'))
}

/** Compacts now and returns the new context. */
export async function compactContext(http: Http): Promise<SessionContext> {
  return parseContext(await http('POST', '/api/session/context/compact'))
}

/** Token usage of all turns in the last `hours` (1..720), over all channels. */
export async function fetchTotalUsage(
  http: Http,
  hours: number,
): Promise<Usage & { readonly turns: number }> {
  const report = asObject(await http('GET', '/api/session/operations', { query: { hours } }), 'report')
  const model = asObject(report.model, 'model')
  return { ...parseUsage(model), turns: numberField(model, 'turns') }
}
