import type { Http } from './http.ts'
import { arrayField, asObject, numberField, stringField } from './json.ts'

/** What is to be erased. */
export type ErasureTarget =
  | { readonly kind: 'memory' | 'note' | 'adaptation' | 'message' | 'span'; readonly id: string }
  | { readonly kind: 'period'; readonly from: string; readonly to: string }

export type PlanGroup = {
  readonly kind: string
  readonly count: number
  /** The first of them, to be recognised by. */
  readonly items: readonly { readonly seq: number; readonly at: string; readonly text: string }[]
}
export type ErasurePlan = {
  readonly count: number
  readonly undoMs: number
  readonly named: readonly PlanGroup[]
  readonly derived: readonly PlanGroup[]
}

function parseGroup(value: unknown): PlanGroup {
  const group = asObject(value, 'group')
  return {
    kind: stringField(group, 'kind'),
    count: numberField(group, 'count'),
    items: arrayField(group, 'items', (item) => {
      const entry = asObject(item, 'entry')
      return {
        seq: numberField(entry, 'seq'),
        at: stringField(entry, 'at'),
        text: stringField(entry, 'text'),
      }
    }),
  }
}

export async function fetchErasurePlan(
  http: Http,
  target: ErasureTarget,
  signal: AbortSignal,
): Promise<ErasurePlan> {
  const answer = asObject(await http('GET', '/api/erasures.plan', { query: target, signal }), 'plan')
  return {
    count: numberField(answer, 'count'),
    undoMs: numberField(answer, 'undoMs'),
    named: arrayField(answer, 'named', parseGroup),
    derived: arrayField(answer, 'derived', parseGroup),
  }
}

/** Hides it at once; erased for good once the time to undo it is over. Gives the erasure's id. */
export async function requestErasure(http: Http, target: ErasureTarget): Promise<string> {
  return stringField(asObject(await http('POST', '/api/erasures', { body: target }), 'erasure'), 'id')
}

export async function undoErasure(http: Http, id: string): Promise<void> {
  await http('POST', `/api/erasures/${encodeURIComponent(id)}/undo`)
}

const names: Readonly<Record<string, readonly [string, string]>> = {
  message: ['message', 'messages'],
  reply: ['reply', 'replies'],
  memory: ['memory', 'memories'],
  note: ['version of a note', 'versions of notes'],
  timer: ['timer', 'timers'],
  task: ['task entry', 'task entries'],
  adaptation: ['version of an instruction', 'versions of instructions'],
  summary: ['summary of the conversation', 'summaries of the conversation'],
  step: ['step of work', 'steps of work'],
}

/** "3 messages". */
export function kindText(kind: string, count: number): string {
  const [one, many] = names[kind] ?? ['other entry', 'other entries']
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}
