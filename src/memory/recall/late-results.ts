import type { LateHit } from './recall-port.ts'

/** A result that came too late for its turn and waits for the next one. */
export type StagedResult = {
  readonly turnId: string
  readonly turn: number
  readonly hits: readonly LateHit[]
}

/** How many turns a late result may wait. */
const MAX_WAIT_TURNS = 2

/**
 * Late results by conversation. A result is delivered with the next turn of its conversation, or expires
 * after MAX_WAIT_TURNS.
 */
export function createLateResults() {
  const turns = new Map<string | null, number>()
  const staged = new Map<string | null, StagedResult[]>()
  return {
    /** Counts a turn of the conversation and returns its number. */
    beginTurn(conversationId: string | null): number {
      const turn = (turns.get(conversationId) ?? 0) + 1
      turns.set(conversationId, turn)
      return turn
    },
    /** Stages a result. Returns false if it has already expired. */
    stage(conversationId: string | null, result: StagedResult): boolean {
      // The next turn is the first that could take it.
      if ((turns.get(conversationId) ?? 0) + 1 - result.turn > MAX_WAIT_TURNS) return false
      staged.set(conversationId, [...(staged.get(conversationId) ?? []), result])
      return true
    },
    /** Removes and returns the staged results: those to deliver with `turn`, and those that expired. */
    take(conversationId: string | null, turn: number) {
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
