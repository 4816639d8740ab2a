import type { Http } from './http.ts'
import { asObject, isObject } from './json.ts'

/** The memories that shaped a reply, in their present words. */
export type TurnMemory = { readonly id: string; readonly text: string }

/** Why this reply: the memories that were in its context. */
export async function fetchTurnMemories(http: Http, turnId: string): Promise<readonly TurnMemory[]> {
  const answer = asObject(await http('GET', `/api/turns/${encodeURIComponent(turnId)}`), 'turn')
  const memories = Array.isArray(answer.memories) ? answer.memories : []
  return memories.flatMap((memory: unknown) =>
    isObject(memory) && typeof memory.id === 'string' && typeof memory.text === 'string'
      ? [{ id: memory.id, text: memory.text }]
      : [],
  )
}
