import type { LiveCall, TalkLine } from '../../../../src/http/contract/calls.ts'
import type { TimelineEvent } from '../../../../src/http/contract/timeline.ts'

/** Stands in for the caller's words until the first ones are recognised. */
const listening: TalkLine = { itemId: 'listening', by: 'caller', text: null }

/**
 * The call in progress, and its lines that are not on the timeline yet. A line's event and its preview arrive in
 * either order. Each line is shown once.
 */
export function createLiveTalk() {
  let call: LiveCall | null = null
  const recorded = new Set<string>()

  return {
    /** The id of the talk in this tab, which has a bar of its own; null for none. */
    ownSid: null as string | null,
    get call(): LiveCall | null {
      return call
    },
    get lines(): readonly TalkLine[] {
      const live = (call?.lines ?? []).filter(({ itemId }) => !recorded.has(itemId))
      const isAwaited = call?.speaking === 'caller' && live.at(-1)?.by !== 'caller'
      return isAwaited ? [...live, listening] : live
    },
    update(next: LiveCall | null): void {
      if (next?.callSid !== call?.callSid) recorded.clear()
      call = next
    },
    /** Takes a timeline event. A line that it records is no longer live. */
    add({ type, payload }: TimelineEvent): void {
      if (type !== 'call.utterance.heard' && type !== 'call.reply.spoken') return
      if (call !== null && typeof payload.itemId === 'string') recorded.add(payload.itemId)
    },
  }
}
