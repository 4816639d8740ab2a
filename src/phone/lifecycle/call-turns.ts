import type { Append, NewEvent } from '../../../ledger/event.ts'
import type { ModelId, Usage } from '../../model/port.ts'

/** Where the facts of a call belong. */
export type CallPlace = {
  readonly callSid: string
  readonly party: 'owner' | 'guest'
  /** Null for a guest, whose words are not part of the owner's conversation. */
  readonly conversationId: string | null
  readonly spanId: string
  readonly offeredSeq: number
}

export type CallTurns = ReturnType<typeof createCallTurns>

/**
 * Records the turns of a call with their usage, as in chat. A turn lasts from one response to the last one
 * that its tools cause.
 */
export function createCallTurns(options: {
  readonly place: CallPlace
  readonly model: ModelId
  readonly adaptationIds: readonly string[]
  readonly append: Append
  readonly newId: () => string
  readonly nowMs: () => number
  /** Tokens of the owner's chain as the last chat turn counted them. A call's session counts only its own. */
  readonly contextTokens: () => number
  readonly onFault: (error: unknown) => void
}) {
  const { place, newId, nowMs } = options
  const turnOfResponse = new Map<string, string>()
  const begin = () => ({
    turnId: newId(),
    opened: false,
    runningTools: 0,
    rounds: 0,
    responseId: null as string | null,
    startedMs: nowMs(),
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  })
  let turn = begin()

  const envelope = () => ({
    conversationId: place.conversationId,
    spanId: place.spanId,
    turnId: turn.turnId,
    channel: 'voice' as const,
    actor: 'service' as const,
  })

  function opening(turnId: string, causedBy: number | null): readonly NewEvent[] {
    if (turn.opened || turn.turnId !== turnId) return []
    turn.opened = true
    return [
      {
        type: 'turn.started',
        ...envelope(),
        ...(causedBy === null ? {} : { causedBy }),
        facts: {
          trigger: 'call',
          party: place.party,
          model: { ...options.model },
          adaptationIds: [...options.adaptationIds],
          signalIds: [],
        },
      },
    ]
  }

  function conclude(): void {
    const { usage, rounds, responseId, startedMs, turnId } = turn
    if (rounds === 0 && !turn.opened) return
    const facts: NewEvent[] = [
      ...opening(turnId, null),
      {
        type: 'turn.completed',
        ...envelope(),
        key: `turn-ended:${turnId}`,
        facts: {
          model: { ...options.model },
          usage,
          contextTokens: options.contextTokens(),
          responseId,
          rounds,
          durationMs: Math.max(0, Math.round(nowMs() - startedMs)),
        },
      },
    ]
    turn = begin()
    options.append(facts).catch(options.onFault)
  }

  return {
    /** The turn in progress, else the next one. */
    currentId: () => turn.turnId,
    /** The turn of a response; the current turn if the response is not finished. */
    turnOf: (responseId: string | null) =>
      (responseId === null ? undefined : turnOfResponse.get(responseId)) ?? turn.turnId,
    /** The facts that open a turn; empty if it is open already or not the current one. */
    opening,
    /** Keeps the current turn open for another response until the returned function is called. */
    toolStarted(): () => void {
      const mine = turn
      mine.runningTools += 1
      return () => {
        mine.runningTools -= 1
      }
    },
    responded({ responseId, usage }: { readonly responseId: string; readonly usage: Usage }): void {
      turnOfResponse.set(responseId, turn.turnId)
      turn.rounds += 1
      turn.responseId = responseId
      turn.usage = {
        inputTokens: turn.usage.inputTokens + usage.inputTokens,
        outputTokens: turn.usage.outputTokens + usage.outputTokens,
        cachedTokens: turn.usage.cachedTokens + usage.cachedTokens,
      }
      const mine = turn
      // Tools of this response start later in the same step, and keep the turn open.
      queueMicrotask(() => {
        if (turn === mine && mine.runningTools === 0) conclude()
      })
    },
    /** The call is over: concludes the open turn. */
    end: conclude,
  }
}
