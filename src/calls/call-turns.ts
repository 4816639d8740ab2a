import type { Append, NewEvent } from '../../ledger/event.ts'
import type { ModelId, Usage } from '../model/port.ts'

/** Where the facts of a call stand. */
export type CallPlace = {
  readonly callSid: string
  readonly party: 'owner' | 'guest'
  /** Null for a guest: what strangers say is no part of the owner's conversation. */
  readonly conversationId: string | null
  readonly spanId: string
  readonly offeredSeq: number
}

export type CallTurns = {
  /** The turn that is under way, or the one that comes next. */
  currentId(): string
  /** The turn of a response; of one that is not finished, the current. */
  turnOf(responseId: string | null): string
  /** Facts that open a turn, where it is the current one and nothing has opened it yet. */
  opening(turnId: string, causedBy: number | null): readonly NewEvent[]
  /** A tool of the current turn runs: another response belongs to it. Returns what says that it no longer does. */
  toolStarted(): () => void
  responded(response: { readonly responseId: string; readonly usage: Usage }): void
  /** The call is over: what is open is concluded. */
  end(): void
}

const REMEMBERED = 64

/**
 * The turns of a call: from one response to the last that its tools brought about. Each is a fact with its usage,
 * as in chat, so a call's cost and its reasons are told the same way.
 */
export function createCallTurns(options: {
  readonly place: CallPlace
  readonly model: ModelId
  /** The standing instructions that its session was begun with. */
  readonly adaptationIds: readonly string[]
  readonly append: Append
  readonly newId: () => string
  readonly nowMs: () => number
  /** Tokens of the owner's chain as a chat turn last counted them: a call's session counts its own. */
  readonly contextTokens: () => number
  readonly onFault: (error: unknown) => void
}): CallTurns {
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
    currentId: () => turn.turnId,
    turnOf: (responseId) => (responseId === null ? undefined : turnOfResponse.get(responseId)) ?? turn.turnId,
    opening,
    toolStarted() {
      const mine = turn
      mine.runningTools += 1
      return () => {
        mine.runningTools -= 1
      }
    },
    responded({ responseId, usage }) {
      turnOfResponse.set(responseId, turn.turnId)
      const [oldest] = turnOfResponse.keys()
      if (turnOfResponse.size > REMEMBERED && oldest !== undefined) turnOfResponse.delete(oldest)
      turn.rounds += 1
      turn.responseId = responseId
      turn.usage = {
        inputTokens: turn.usage.inputTokens + usage.inputTokens,
        outputTokens: turn.usage.outputTokens + usage.outputTokens,
        cachedTokens: turn.usage.cachedTokens + usage.cachedTokens,
      }
      const mine = turn
      // The tools that it asks for are started in this very step of the call, right after it.
      queueMicrotask(() => {
        if (turn === mine && mine.runningTools === 0) conclude()
      })
    },
    end: conclude,
  }
}
