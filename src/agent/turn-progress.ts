import type { LedgerEvent } from '../../ledger/event.ts'
import type { AnyEvent } from '../../ledger/reader.ts'
import type { InputItem, ModelId } from '../model/port.ts'
import { isSameModel } from './context.ts'

/** How far a turn has come, by its facts: what a restart goes on from. */
export type TurnProgress = {
  readonly starts: number
  /** Rounds whose calls are recorded. */
  readonly rounds: number
  /** The recorded items of the turn, in order, to be given to the model after its message. */
  readonly items: readonly InputItem[]
  /** Calls that have no outcome: a crash came between. */
  readonly orphans: readonly OrphanCall[]
  /** What results that hold words of others told of; which tools were called. */
  readonly read: readonly string[]
  readonly called: readonly string[]
  /** Facts whose words the turn has seen. */
  readonly seenSeqs: readonly number[]
}

export type OrphanCall = {
  readonly seq: number
  /** The turn that made it, under whose key it finds what it may have done. */
  readonly turnId: string
  readonly callId: string
  readonly tool: string
  readonly round: number
  readonly idempotent: boolean
  readonly arguments: string
  /** Whether words of others were before the model when it made the call. */
  readonly foreign: boolean
  /** What asked for it was forgotten since. */
  readonly erased: boolean
}

/** A turn is taken up again after a crash this often; one that brings the process down must not do so for ever. */
const MAX_STARTS = 3

/** Whether a turn that a crash cut off may go on from its recorded items: nothing is run twice that must not be. */
export function canGoOn(progress: TurnProgress): boolean {
  return progress.starts < MAX_STARTS && progress.orphans.every((orphan) => orphan.idempotent)
}

/** Folds a turn's own events, oldest first. */
export function progressOf(events: readonly AnyEvent[], model: ModelId): TurnProgress {
  const mine = events.filter((event): event is LedgerEvent => event.type !== 'unknown')
  const returned = new Set(
    mine.flatMap((event) => (event.type === 'tool.returned' ? [event.facts.callId] : [])),
  )
  const keptRounds = new Set(
    mine.flatMap((event) =>
      event.type === 'turn.items.kept' && event.body && isSameModel(event.facts.model, model)
        ? [event.facts.round]
        : [],
    ),
  )
  const items: InputItem[] = []
  const orphans: OrphanCall[] = []
  let rounds = 0
  for (const event of mine) {
    if (event.type === 'turn.items.kept' && event.body && keptRounds.has(event.facts.round)) {
      items.push({ type: 'opaque', model: event.facts.model, blob: event.body.blob })
    } else if (event.type === 'tool.called') {
      const { callId, tool, round, idempotent } = event.facts
      const args = event.body?.arguments ?? '{}'
      rounds = Math.max(rounds, round)
      // The service's own items hold the calls of their round already.
      if (!keptRounds.has(round)) items.push({ type: 'tool_call', callId, name: tool, arguments: args })
      if (!returned.has(callId))
        orphans.push({
          seq: event.seq,
          turnId: event.turnId ?? '',
          callId,
          tool,
          round,
          idempotent,
          arguments: args,
          foreign: event.facts.foreign !== false,
          erased: event.erased,
        })
    } else if (event.type === 'tool.returned') {
      items.push({
        type: 'tool_result',
        callId: event.facts.callId,
        output: event.body?.result ?? '{"erased":true}',
      })
    }
  }
  return {
    starts: mine.filter((event) => event.type === 'turn.started').length,
    rounds,
    items,
    orphans,
    read: mine.flatMap((event) =>
      event.type === 'tool.returned' && event.facts.foreign !== false ? [event.facts.tool] : [],
    ),
    called: mine.flatMap((event) => (event.type === 'tool.called' ? [event.facts.tool] : [])),
    seenSeqs: mine.flatMap((event) =>
      event.type === 'tool.returned' || event.type === 'tool.called' ? [event.seq] : [],
    ),
  }
}

/**
 * How far a turn has come that does again what others tried before it and failed: what they had done is done, and the
 * model is told so. Their starts and rounds are their own.
 */
export function goingOnFrom(earlier: readonly TurnProgress[], own: TurnProgress): TurnProgress {
  const all = [...earlier, own]
  const items = all.flatMap((each) => each.items)
  const returned = new Set(items.flatMap((item) => (item.type === 'tool_result' ? [item.callId] : [])))
  return {
    starts: own.starts,
    rounds: own.rounds,
    items,
    orphans: all.flatMap((each) => each.orphans).filter(({ callId }) => !returned.has(callId)),
    read: all.flatMap((each) => each.read),
    called: all.flatMap((each) => each.called),
    seenSeqs: all.flatMap((each) => each.seenSeqs),
  }
}
