import type { Http } from './http.ts'
import { arrayField, asObject, numberField, optionalString, stringField } from './json.ts'

export type Memory = {
  readonly id: string
  readonly text: string
  readonly kind: string
  /** Contested: another one contradicts it, and the owner has not said which is right. */
  readonly status: 'active' | 'contested'
  /** When it ceases to hold; null where no end is known. */
  readonly validUntil: string | null
  /** 0..1, by use and age. */
  readonly strength: number
  readonly reinforcements: number
  readonly createdAt: string
  readonly lastReinforcedAt: string | null
  readonly lastSurfacedAt: string | null
  /** The moments on the timeline that it was learned from. */
  readonly sources: readonly { readonly seq: number }[]
}

export type MemoryPage = {
  readonly memories: readonly Memory[]
  /** How many there are in all, or that match. */
  readonly count: number
  readonly nextCursor: string | null
}

function parseMemory(value: unknown): Memory {
  const memory = asObject(value, 'memory')
  return {
    id: stringField(memory, 'id'),
    text: stringField(memory, 'text'),
    kind: stringField(memory, 'kind'),
    status: memory.status === 'contested' ? 'contested' : 'active',
    validUntil: optionalString(memory, 'validUntil'),
    strength: numberField(memory, 'strength'),
    reinforcements: numberField(memory, 'reinforcements'),
    createdAt: stringField(memory, 'createdAt'),
    lastReinforcedAt: optionalString(memory, 'lastReinforcedAt'),
    lastSurfacedAt: optionalString(memory, 'lastSurfacedAt'),
    sources: arrayField(memory, 'sources', (source) => ({
      seq: numberField(asObject(source, 'source'), 'seq'),
    })),
  }
}

export async function fetchMemories(
  http: Http,
  query: {
    readonly q?: string
    readonly cursor?: string
    readonly limit: number
    readonly signal?: AbortSignal
  },
): Promise<MemoryPage> {
  const { signal, ...rest } = query
  const options = { query: rest, ...(signal ? { signal } : {}) }
  const answer = asObject(await http('GET', '/api/memories', options), 'memories')
  return {
    memories: arrayField(answer, 'memories', parseMemory),
    count: numberField(answer, 'count'),
    nextCursor: optionalString(answer, 'nextCursor'),
  }
}

/** Makes it hold again; what took its place no longer does. */
export async function restoreMemory(http: Http, id: string): Promise<void> {
  await http('POST', `/api/memories/${encodeURIComponent(id)}/restore`)
}
