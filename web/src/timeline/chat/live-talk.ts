/** The call in progress, and its lines that are not on the timeline yet. */
export type LiveTalk = {
  readonly call: LiveCall | null
  /** Keeps its identity until something changes. */
  readonly lines: readonly TalkLine[]
  update(call: LiveCall | null): void
  /** Takes a timeline event. A line that it records is no longer live. */
  add(event: TimelineEvent): void
}

/** Stands in for the caller's words until the first ones are recognised. */
const listening: TalkLine = { itemId: 'listening', by: 'caller', text: null }

/** A line's event and its preview arrive in either order. Each line is shown once. */
export function createLiveTalk(): LiveTalk {
  let call: LiveCall | null = null
  let lines: readonly TalkLine[] = []
  const recorded = new Set<string>()

  function updateLines(): void {
    const live = (call?.lines ?? []).filter(({ itemId }) => !recorded.has(itemId))
    const isAwaited = call?.speaking === 'caller' && live.at(-1)?.by !== 'caller'
    lines = isAwaited ? [...live, listening] : live
  }

  return {
    get call() {
      return call
    },
    get lines() {
      return lines
    },
    update(next) {
      if (next?.callSid !== call?.callSid) recorded.clear()
      call = next
      updateLines()
    },
    add({ type, payload }) {
      if (type !== 'call.utterance.heard' && type !== 'call.reply.spoken') return
      if (call === null || typeof payload.itemId !== 'string') return
      recorded.add(payload.itemId)
      updateLines()
    },
  }
}

import type { LiveCall, TalkLine } from '../../../../src/http/contract/calls.ts'
import type { TimelineEvent } from '../../../../src/http/contract/timeline.ts'
