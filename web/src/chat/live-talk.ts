import type { LiveCall, TalkLine } from '../data/calls.ts'
import type { TimelineEvent } from '../data/timeline.ts'

/** The call that goes on, and what is said in it and stands on the timeline not yet. */
export type LiveTalk = {
  readonly call: LiveCall | null
  /** The same array until something changes. */
  readonly lines: readonly TalkLine[]
  update(call: LiveCall | null): void
  /** An event of the timeline: what it tells is live no more. */
  add(event: TimelineEvent): void
}

/** The caller has begun to speak, and nothing is known of it but that. */
const listening: TalkLine = { itemId: 'listening', by: 'caller', text: null }

/** A fact and the preview of it come on their own ways, in either order; nothing is shown twice. */
export function createLiveTalk(): LiveTalk {
  let call: LiveCall | null = null
  let lines: readonly TalkLine[] = []
  const told = new Set<string>()

  function find(): void {
    const untold = (call?.lines ?? []).filter(({ itemId }) => !told.has(itemId))
    const isAwaited = call?.speaking === 'caller' && untold.at(-1)?.by !== 'caller'
    lines = isAwaited ? [...untold, listening] : untold
  }

  return {
    get call() {
      return call
    },
    get lines() {
      return lines
    },
    update(next) {
      if (next?.callSid !== call?.callSid) told.clear()
      call = next
      find()
    },
    add({ type, payload }) {
      if (type !== 'call.utterance.heard' && type !== 'call.reply.spoken') return
      if (call === null || typeof payload.itemId !== 'string') return
      told.add(payload.itemId)
      find()
    },
  }
}
