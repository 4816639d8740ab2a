import type { LedgerEvent } from '../../../ledger/event.ts'
import type { AnyEvent } from '../../../ledger/reader.ts'
import { type InputItem, isSameModel, type ModelId } from '../../model/port.ts'
import type { RecordedCall } from './tool-runner.ts'

/** The recorded progress of a turn, from which a restart resumes it. */
export type TurnProgress = {
  readonly starts: number
  readonly rounds: number
  /** The recorded items of the turn, which follow its message in the input. */
  readonly items: readonly InputItem[]
  /** Calls without an outcome, cut off by a crash. */
  readonly orphans: readonly OrphanCall[]
  /** Results with foreign words, and the tools that returned them. */
  readonly read: readonly { readonly seq: number; readonly tool: string }[]
  /** All tools that were called. */
  readonly called: readonly string[]
  /** The facts of the turn's calls and results. */
  readonly seenSeqs: readonly number[]
}

export type OrphanCall = RecordedCall & { readonly idempotent: boolean }

/** Limits resuming, so that a turn that crashes the process does not do so forever. */
const MAX_STARTS = 3

/** Whether a turn can be resumed after a crash without running a non-idempotent call twice. */
export function canResume(progress: TurnProgress): boolean {
  return progress.starts < MAX_STARTS && progress.orphans.every((orphan) => orphan.idempotent)
}

/** Folds the events of a turn, oldest first. */
export function progressOf(events: readonly AnyEvent[], model: ModelId): TurnProgress {
  const mine = events.filter((event): event is LedgerEvent => event.type !== 'unknown')
  const results = mine.filter((event) => event.type === 'tool.returned')
  const calls = mine.filter((event) => event.type === 'tool.called')
  const returned = new Set(results.map(({ facts }) => facts.callId))
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
      // The kept items of the service already contain the calls of their round.
      if (!keptRounds.has(round)) items.push({ type: 'tool_call', callId, name: tool, arguments: args })
      if (!returned.has(callId))
        orphans.push({
          seq: event.seq,
          // Part of its idempotency key.
          ...(event.turnId === null ? {} : { turnId: event.turnId }),
          callId,
          tool,
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
    read: results.flatMap(({ facts, seq }) => (facts.foreign === false ? [] : [{ seq, tool: facts.tool }])),
    called: calls.map(({ facts }) => facts.tool),
    seenSeqs: [...calls, ...results].map(({ seq }) => seq),
  }
}

/** Adds what earlier failed attempts have done. Their starts and rounds do not count. */
export function withEarlier(earlier: readonly TurnProgress[], own: TurnProgress): TurnProgress {
  const all = [...earlier, own]
  const items = all.flatMap((each) => each.items)
  const returned = new Set(items.flatMap((item) => (item.type === 'tool_result' ? [item.callId] : [])))
  return {
    ...own,
    items,
    orphans: all.flatMap((each) => each.orphans).filter(({ callId }) => !returned.has(callId)),
    read: all.flatMap((each) => each.read),
    called: all.flatMap((each) => each.called),
    seenSeqs: all.flatMap((each) => each.seenSeqs),
  }
}
