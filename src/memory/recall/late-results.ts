import type { RecallCue } from '../../lib/recall.ts'
import type { LateHit } from './recall-port.ts'

/** The turn that a fact of recall belongs to. */
export type Place = Pick<RecallCue, 'conversationId' | 'spanId' | 'turnId'>

/** A result that came too late for its turn and waits for the next one. */
export type StagedResult = {
  readonly place: Place
  /** The number of the turn in its conversation. */
  readonly turn: number
  readonly hits: readonly LateHit[]
}

/** How many turns a late result may wait. */
const MAX_WAIT_TURNS = 2

/** Late results. One is delivered with the next turn of its conversation, or expires after MAX_WAIT_TURNS. */
export function createLateResults() {
  const turns = new Map<string | null, number>()
  let staged: StagedResult[] = []
  const turnOf = (conversationId: string | null) => turns.get(conversationId) ?? 0
  const isInTime = (turn: number) => (result: StagedResult) => turn - result.turn <= MAX_WAIT_TURNS

  return {
    /** Counts a turn of the conversation. Removes and returns what waits for it. */
    beginTurn(conversationId: string | null) {
      const turn = turnOf(conversationId) + 1
      turns.set(conversationId, turn)
      const waiting = staged.filter(({ place }) => place.conversationId === conversationId)
      staged = staged.filter((result) => !waiting.includes(result))
      const ready = waiting.filter(isInTime(turn))
      return { turn, ready, expired: waiting.filter((result) => !ready.includes(result)) }
    },
    /** Stages a result. Returns false if it has already expired. */
    stage(result: StagedResult): boolean {
      // The next turn is the first that could take it.
      const isStaged = isInTime(turnOf(result.place.conversationId) + 1)(result)
      if (isStaged) staged.push(result)
      return isStaged
    },
    takeAll: () => staged.splice(0),
    waiting: () => staged.length,
  }
}
