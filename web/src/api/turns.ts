import type { Http } from './http.ts'
import {
  arrayField,
  asObject,
  isObject,
  type JsonObject,
  optionalString,
  stringField,
  UnexpectedAnswer,
} from './json.ts'
import { parseUsage, type Usage } from './session.ts'

/** A memory used for a reply, in its current words. `text` is null once forgotten. */
export type TurnMemory = { readonly id: string; readonly text: string | null; readonly late: boolean }

export type TurnTool = {
  readonly callId: string
  readonly tool: string
  readonly arguments: string | null
  /** Null for a call that has not returned. */
  readonly outcome: string | null
  readonly result: string | null
  readonly durationMs: number | null
}

/** What a turn was given and what it did: the answer to "why this reply?". */
export type TurnReport = {
  readonly turnId: string
  readonly channel: string | null
  readonly status: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  readonly model: { readonly provider: string; readonly model: string } | null
  readonly memories: readonly TurnMemory[]
  readonly suppressed: readonly { readonly id: string; readonly reason: string }[]
  readonly signals: readonly { readonly id: string; readonly kind: string; readonly text: string | null }[]
  readonly adaptations: readonly string[]
  readonly tools: readonly TurnTool[]
  readonly usage: Usage
}

function parseReport(value: unknown): TurnReport {
  const turn = asObject(value, 'turn')
  const list = <T>(field: string, parse: (item: JsonObject) => T) =>
    arrayField(turn, field, (item) => parse(asObject(item, field)))
  return {
    turnId: stringField(turn, 'turnId'),
    channel: optionalString(turn, 'channel'),
    status: stringField(turn, 'status'),
    startedAt: optionalString(turn, 'startedAt'),
    completedAt: optionalString(turn, 'completedAt'),
    model: isObject(turn.model)
      ? { provider: stringField(turn.model, 'provider'), model: stringField(turn.model, 'model') }
      : null,
    memories: list('memories', (item) => ({
      id: stringField(item, 'id'),
      text: optionalString(item, 'text'),
      late: item.late === true,
    })),
    suppressed: list('suppressed', (item) => ({
      id: stringField(item, 'id'),
      reason: stringField(item, 'reason'),
    })),
    signals: list('signals', (item) => ({
      id: stringField(item, 'id'),
      kind: stringField(item, 'kind'),
      text: optionalString(item, 'text'),
    })),
    adaptations: arrayField(turn, 'adaptations', (item) => {
      if (typeof item !== 'string') throw new UnexpectedAnswer('adaptations')
      return item
    }),
    tools: list('tools', (item) => ({
      callId: stringField(item, 'callId'),
      tool: stringField(item, 'tool'),
      arguments: optionalString(item, 'arguments'),
      outcome: optionalString(item, 'outcome'),
      result: optionalString(item, 'result'),
      durationMs: typeof item.durationMs === 'number' ? item.durationMs : null,
    })),
    usage: parseUsage(turn.usage),
  }
}

export async function fetchTurn(http: Http, turnId: string): Promise<TurnReport> {
  return parseReport(await http('GET', `/api/turns/${encodeURIComponent(turnId)}`))
}
