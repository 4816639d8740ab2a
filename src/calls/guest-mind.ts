import type { LedgerReader } from '../../ledger/reader.ts'
import type { CallPlace, CallTurns } from './call-turns.ts'
import type { FactQueue } from './fact-queue.ts'
import { guestHistory } from './history.ts'
import type { PlacedMind, VoiceSettings } from './mind.ts'

/** A guest's call ends after this. */
export const GUEST_CALL_MS = 3 * 60_000
/** Words of earlier calls and texts of the same number. */
export const GUEST_WORDS = 12

/**
 * The delegate as strangers meet it: a persona and what this number itself said before. Nothing of the owner's is
 * within reach: not withheld by the model's tact, but never given to it.
 */
export function createGuestMind(options: {
  readonly place: CallPlace
  readonly turns: CallTurns
  readonly queue: FactQueue
  readonly ledger: LedgerReader
  /** Where the words of this number stand, its present call included, oldest first. */
  readonly wordSeqs: () => readonly number[]
  readonly instructions: () => string
  readonly voice: VoiceSettings
  readonly onTool: (name: string) => void
}): PlacedMind {
  const { place, turns, queue } = options
  const { spanId } = place
  return {
    async plan() {
      await queue.settled()
      return {
        instructions: options.instructions(),
        history: guestHistory(options.ledger.readSeqs(options.wordSeqs())),
        tools: [],
        ...options.voice(),
      }
    },
    recall: async () => null,
    async runTool({ name }) {
      options.onTool(name)
      return JSON.stringify({ ok: false, reason: 'not_allowed', message: 'There are no tools in this call.' })
    },
    responded: (response) => turns.responded(response),
    place: (fact) => ({
      ...fact,
      conversationId: null,
      spanId,
      ...(fact.type === 'call.reply.spoken' ? { turnId: turns.turnOf(fact.facts.responseId) } : {}),
    }),
    recorded: () => undefined,
    end: () => turns.end(),
  }
}
