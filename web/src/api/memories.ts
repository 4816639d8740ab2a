import type { Http } from './http.ts'
import { arrayField, asObject, numberField, optionalString, stringField } from './json.ts'

export type Memory = {
  readonly id: string
  readonly text: string
  readonly kind: string
  /** `contested`: another memory contradicts it, and the owner has not decided between them. */
  readonly status: 'active' | 'contested'
  /** When it stops being valid; null if no end is known. */
  readonly validUntil: string | null
  /** 0..1, by use and age. */
  readonly strength: number
  readonly reinforcements: number
  readonly createdAt: string
  readonly lastReinforcedAt: string | null
  readonly lastSurfacedAt: string | null
  /** Events that it was learned from. */
  readonly sources: readonly { readonly seq: number }[]
}

export type MemoryPage = {
  readonly memories: readonly Memory[]
  /** Total number of memories, or of matches. */
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

/** Makes the memory active again and retires the one that replaced it. */
export async function restoreMemory(http: Http, id: string): Promise<void> {
  await http('POST', `/api/memories/${encodeURIComponent(id)}/restore`)
}
