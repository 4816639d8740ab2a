import type { LateHit } from './recall-port.ts'

/** What came too late for its turn, waiting for the next. */
export type StagedResult = {
  readonly turnId: string
  readonly turn: number
  readonly hits: readonly LateHit[]
  /** The memories among the hits, by seq. */
  readonly memoryIds: ReadonlyMap<number, string>
}

/** Turns that a late result may wait for. */
const MAX_WAIT_TURNS = 2

/**
 * Late results by conversation. A result is delivered with the next turn of its conversation, at most two turns
 * after its own; every way in which it can end is told once.
 */
export type LateResults = {
  /** Counts a turn of the conversation and returns its number. */
  beginTurn(conversationId: string | null): number
  /** Stages a result; false when it has expired by now. */
  stage(conversationId: string | null, result: StagedResult): boolean
  /** Takes what waits: what may be delivered with turn `turn`, and what has expired. */
  take(
    conversationId: string | null,
    turn: number,
  ): { readonly ready: readonly StagedResult[]; readonly expired: readonly StagedResult[] }
  /** Takes everything that waits anywhere. */
  takeAll(): readonly { readonly conversationId: string | null; readonly result: StagedResult }[]
  waiting(): number
}

export function createLateResults(): LateResults {
  const turns = new Map<string | null, number>()
  const staged = new Map<string | null, StagedResult[]>()
  return {
    beginTurn(conversationId) {
      const turn = (turns.get(conversationId) ?? 0) + 1
      turns.set(conversationId, turn)
      return turn
    },
    stage(conversationId, result) {
      // The turn that comes next is the first that could take it.
      if ((turns.get(conversationId) ?? 0) + 1 - result.turn > MAX_WAIT_TURNS) return false
      staged.set(conversationId, [...(staged.get(conversationId) ?? []), result])
      return true
    },
    take(conversationId, turn) {
      const waiting = staged.get(conversationId) ?? []
      staged.delete(conversationId)
      return {
        ready: waiting.filter((result) => turn - result.turn <= MAX_WAIT_TURNS),
        expired: waiting.filter((result) => turn - result.turn > MAX_WAIT_TURNS),
      }
    },
    takeAll() {
      const all = [...staged].flatMap(([conversationId, results]) =>
        results.map((result) => ({ conversationId, result })),
      )
      staged.clear()
      return all
    },
    waiting: () => [...staged.values()].reduce((sum, results) => sum + results.length, 0),
  }
}
