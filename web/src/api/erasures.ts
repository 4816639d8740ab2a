import type { Http } from './http.ts'
import { arrayField, asObject, type JsonObject, numberField, stringField } from './json.ts'

export type ErasureTarget =
  | { readonly kind: 'memory' | 'note' | 'adaptation' | 'message' | 'span'; readonly id: string }
  | { readonly kind: 'period'; readonly from: string; readonly to: string }

export type PlanGroup = {
  readonly kind: string
  readonly count: number
  /** The first few, as examples. */
  readonly items: readonly PlanItem[]
}
export type PlanItem = {
  readonly seq: number
  readonly at: string
  readonly text: string
  /** How a reply reads afterwards; null if it is erased completely. */
  readonly after: string | null
}
export type PlanGroups = {
  /** Entries that the owner asked to erase. */
  readonly named: readonly PlanGroup[]
  /** Entries derived from them, erased too. */
  readonly derived: readonly PlanGroup[]
  /** Entries that mention them and stay. */
  readonly stays: readonly PlanGroup[]
}
export type ErasurePlan = PlanGroups & { readonly count: number; readonly undoMs: number }

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
        after: typeof entry.after === 'string' ? entry.after : null,
      }
    }),
  }
}

function parseGroups(plan: JsonObject): PlanGroups {
  return {
    named: arrayField(plan, 'named', parseGroup),
    derived: arrayField(plan, 'derived', parseGroup),
    stays: arrayField(plan, 'stays', parseGroup),
  }
}

/** The plan of an erasure that can still be undone; null otherwise. */
export async function fetchPendingPlan(http: Http, id: string): Promise<PlanGroups | null> {
  const { plan } = asObject(await http('GET', `/api/erasures/${encodeURIComponent(id)}`), 'erasure')
  return plan === null ? null : parseGroups(asObject(plan, 'plan'))
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
    ...parseGroups(answer),
  }
}

/** Hides the target at once and erases it after `undoMs`. Returns the erasure's id. */
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

/** For example "3 messages". */
export function kindText(kind: string, count: number): string {
  const [one, many] = names[kind] ?? ['other entry', 'other entries']
  return `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`
}
