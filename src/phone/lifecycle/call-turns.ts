import type { Append, NewEvent } from '../../../ledger/event.ts'
import { failureText, type TurnFailureKind } from '../../model/failure-text.ts'
import { kindOf } from '../../model/openai/failures.ts'
import type { ModelId } from '../../model/port.ts'
import type { FinishedResponse } from '../call/call-state.ts'

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
 * that its tools or a retry cause.
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
    /** Why its last response failed. */
    failure: null as TurnFailureKind | null,
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
    const { usage, rounds, responseId, failure, startedMs, turnId } = turn
    if (rounds === 0 && !turn.opened) return
    const place = { ...envelope(), key: `turn-ended:${turnId}` }
    const durationMs = Math.max(0, Math.round(nowMs() - startedMs))
    const outcome: NewEvent =
      failure === null
        ? {
            type: 'turn.completed',
            ...place,
            facts: {
              model: { ...options.model },
              usage,
              contextTokens: options.contextTokens(),
              responseId,
              rounds,
              durationMs,
            },
          }
        : {
            type: 'turn.failed',
            ...place,
            facts: { kind: failure, usage, durationMs },
            body: { text: failureText[failure] },
          }
    const facts = [...opening(turnId, null), outcome]
    turn = begin()
    options.append(facts).catch(options.onFault)
  }

  return {
    /** The turn in progress, else the next one. */
    currentId: () => turn.turnId,
    /** The turn of a response; the current turn if the response is not finished, and none for a phrase. */
    turnOf: (responseId: string | null) =>
      responseId === null ? null : (turnOfResponse.get(responseId) ?? turn.turnId),
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
    responded({ responseId, usage, failure, isRetried }: FinishedResponse): void {
      turnOfResponse.set(responseId, turn.turnId)
      turn.rounds += 1
      turn.responseId = responseId
      turn.failure = failure === null ? null : failureKindOf(failure)
      turn.usage = {
        inputTokens: turn.usage.inputTokens + usage.inputTokens,
        outputTokens: turn.usage.outputTokens + usage.outputTokens,
        cachedTokens: turn.usage.cachedTokens + usage.cachedTokens,
      }
      const mine = turn
      // Tools of this response start later in the same step, and keep the turn open, as a retry does.
      queueMicrotask(() => {
        if (turn === mine && mine.runningTools === 0 && !isRetried) conclude()
      })
    },
    /** The call is over: concludes the open turn. */
    end: conclude,
  }
}

/** For the code of a failed response: our own kinds, or what the service calls it. */
function failureKindOf(code: string): TurnFailureKind {
  if (Object.hasOwn(failureText, code)) return code as TurnFailureKind
  return kindOf({ status: null, code, message: '' })
}
