import type { LedgerReader } from '../../../ledger/reader.ts'
import type { CallPlace, CallTurns } from './call-turns.ts'
import type { FactQueue } from './fact-queue.ts'
import { guestHistory } from './history.ts'
import type { PlacedMind, VoiceSettings } from './mind.ts'

/** Time limit for a guest's call. */
export const GUEST_CALL_MS = 3 * 60_000
/** Number of earlier messages, by call or text, that a guest's call starts with. */
export const GUEST_WORDS = 12

/**
 * The delegate for guests: a persona and the earlier words of the same number. The model gets none of the
 * owner's data, so it cannot reveal any.
 */
export function createGuestMind(options: {
  readonly place: CallPlace
  readonly turns: CallTurns
  readonly queue: FactQueue
  readonly ledger: LedgerReader
  /** The words of this number, including the current call, oldest first. */
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
