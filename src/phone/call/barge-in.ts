import { type Draft, oweReply, set, setCaller, setResponses } from './call-state.ts'
import { cut, type Outcome, type Segment } from './playback.ts'
import { settleHeard } from './reply-audio.ts'
import { closeResponse, deleteUnheard, isClosed } from './responses.ts'
import { placeUtterance, settleUtterance } from './transcript.ts'

/** The caller began to speak: stops the reply within this step. */
export function callerStarted(draft: Draft): void {
  const beganNow = !draft.state.caller.speaking
  setCaller(draft, { speaking: true, hasAsked: true, replyOwed: null })
  // The reply to these words also covers the queued request.
  setResponses(draft, { queued: null, failures: 0, toolRounds: 0 })
  set(draft, { checkInsMade: 0 })
  interrupt(draft)
  // Last, so that recall cannot delay the clear.
  if (beganNow) draft.actions.push({ type: 'memory.cue', text: null })
}

/** The caller stopped speaking; the service now owes a reply. */
export function callerStopped(draft: Draft): void {
  if (!draft.state.caller.speaking) return
  setCaller(draft, { speaking: false })
  oweReply(draft, { isOptional: false })
}

/** The caller's speech became a conversation item. Its text follows, often after the reply. */
export function utteranceCommitted(draft: Draft, itemId: string, previousItemId: string | null): void {
  callerStopped(draft)
  const { transcript } = draft.state
  set(draft, { transcript: placeUtterance(transcript, itemId, previousItemId, draft.atMs) })
}

/** The transcription of an utterance arrived; null if it failed. Settles the transcript and cues recall. */
export function utteranceTranscribed(draft: Draft, itemId: string, text: string | null): void {
  const settled = settleUtterance(draft.state.transcript, itemId, text)
  if (settled === draft.state.transcript) return
  set(draft, { transcript: settled })
  const { replyOwed } = draft.state.caller
  if (text !== null && text.trim() !== '') draft.actions.push({ type: 'memory.cue', text })
  else if (replyOwed !== null) setCaller(draft, { replyOwed: { ...replyOwed, isOptional: true } })
}

/**
 * Stops playback, and records the interruption; the service itself stops generating. Truncates the model's
 * items to what was heard: over a WebSocket the service cannot know. Does nothing if nothing is playing or
 * being generated.
 */
function interrupt(draft: Draft): void {
  const { options, playback, responses } = draft.state
  const isGenerating = responses.active !== null && !isClosed(draft, responses.active)
  if (!isGenerating && playback.segments.length === 0) return
  const cuts = silence(draft)
  for (const { segment, heardMs, sentMs } of cuts) {
    if (segment.responseId === null) continue
    // The service rejects a truncation at 0 ms or beyond the item's audio.
    if (heardMs === 0) deleteUnheard(draft, segment.itemId, segment.responseId)
    else if (heardMs < sentMs) truncate(draft, segment, heardMs)
  }
  const head = cuts[0]
  draft.actions.push({
    type: 'record',
    facts: [
      {
        type: 'call.interrupted',
        actor: options.party,
        channel: 'voice',
        facts: {
          callSid: options.callSid,
          itemId: head?.segment.itemId ?? null,
          heardMs: head?.heardMs ?? 0,
          sentMs: head?.sentMs ?? 0,
        },
      },
    ],
  })
}

/**
 * Drops all audio that is playing or queued, with at most one `clear`, and closes the responses it belongs
 * to. Returns what was heard of each segment, the playing one first.
 */
export function silence(draft: Draft): readonly Outcome[] {
  const { playback, outcomes } = cut(draft.state.playback)
  const { active } = draft.state.responses
  if (active !== null) closeResponse(draft, active)
  if (outcomes.length === 0) return outcomes
  set(draft, { playback })
  if (outcomes.some(({ sentMs }) => sentMs > 0)) draft.actions.push({ type: 'line.clear' })
  for (const { segment } of outcomes) {
    if (segment.responseId !== null) closeResponse(draft, segment.responseId)
  }
  settleHeard(draft, outcomes, true)
  return outcomes
}

function truncate(draft: Draft, { itemId, contentIndex }: Segment, heardMs: number): void {
  draft.actions.push({
    type: 'model.send',
    event: {
      type: 'conversation.item.truncate',
      item_id: itemId,
      content_index: contentIndex,
      audio_end_ms: heardMs,
    },
  })
}
