import { type Draft, type Phrase, set, setResponses } from './call-state.ts'
import { acknowledge, complete, enqueue, type Outcome, type Outgoing, type SegmentName } from './playback.ts'
import type { ServerEvent } from './realtime-protocol.ts'
import { isClosed, responseCreated } from './responses.ts'
import { changeReply, findReply } from './transcript.ts'

type Said<T extends ServerEvent['type']> = Extract<ServerEvent, { type: T }>

/** Sends a reply's audio to the provider, unless its response was interrupted or is done. */
export function audioDelta(draft: Draft, event: Said<'response.output_audio.delta'>): void {
  if (isFinished(draft, event.response_id)) return
  if (draft.state.responses.active !== event.response_id && !isClosed(draft, event.response_id)) {
    responseCreated(draft, event.response_id)
  }
  const bytes = Buffer.byteLength(event.delta, 'base64')
  setReply(draft, event.item_id, event.response_id, (reply) => ({
    ...reply,
    generatedBytes: reply.generatedBytes + bytes,
  }))
  if (isClosed(draft, event.response_id) || draft.state.stage.name !== 'live') return
  // Its heard part is settled, so further audio would be heard but not recorded.
  if (findReply(draft.state.transcript, event.item_id)?.heard) return
  const name = {
    key: segmentKey(event.item_id, event.content_index),
    itemId: event.item_id,
    responseId: event.response_id,
    contentIndex: event.content_index,
  }
  setResponses(draft, { activeAs: { ...draft.state.responses.activeAs, hasAudio: true } })
  play(draft, name, event.delta)
}

/** Generation of this audio has ended; playback continues. */
export function audioDone(draft: Draft, itemId: string, contentIndex: number): void {
  completeSegment(draft, segmentKey(itemId, contentIndex))
}

/** Completes the segments of a response that never got an `output_audio.done`. */
export function completeResponseAudio(draft: Draft, responseId: string): void {
  for (const segment of draft.state.playback.segments) {
    if (segment.responseId === responseId) completeSegment(draft, segment.key)
  }
}

export function transcriptDelta(draft: Draft, event: Said<'response.output_audio_transcript.delta'>): void {
  if (isFinished(draft, event.response_id)) return
  setReply(draft, event.item_id, event.response_id, (reply) => ({
    ...reply,
    generatedText: reply.generatedText + event.delta,
  }))
}

/** The whole generated text, including words that are never spoken. */
export function transcriptDone(draft: Draft, event: Said<'response.output_audio_transcript.done'>): void {
  if (isFinished(draft, event.response_id)) return
  setReply(draft, event.item_id, event.response_id, (reply) => ({
    ...reply,
    generatedText: event.transcript,
  }))
}

/** The provider returned a mark: it played everything before it, or dropped it at a clear. */
export function markReturned(draft: Draft, name: string): void {
  const { playback, finished } = acknowledge(draft.state.playback, name)
  if (playback === draft.state.playback) return
  set(draft, { playback })
  settleHeard(draft, finished, false)
}

/** Says a phrase. It is recorded like a reply, but belongs to no response. */
export function say(draft: Draft, { text, media }: Phrase): void {
  const itemId = `phrase_${draft.state.playback.nextMark}`
  setReply(draft, itemId, null, (reply) => ({
    ...reply,
    generatedText: text,
    generatedBytes: Buffer.byteLength(media, 'base64'),
    generated: true,
  }))
  play(draft, { key: itemId, itemId, responseId: null, contentIndex: 0 }, media)
  completeSegment(draft, itemId)
}

/** Records in the transcript how much of these segments was heard. */
export function settleHeard(draft: Draft, outcomes: readonly Outcome[], interrupted: boolean): void {
  for (const { segment, heardMs, sentMs } of outcomes) {
    setReply(draft, segment.itemId, segment.responseId, (reply) => ({
      ...reply,
      heard: reply.heard ?? { heardMs, sentMs, interrupted },
    }))
  }
}

function play(draft: Draft, name: SegmentName, audio: string): void {
  const { playback, outgoing } = enqueue(draft.state.playback, name, audio)
  set(draft, { playback })
  sendOut(draft, outgoing)
}

function completeSegment(draft: Draft, key: string): void {
  const { playback, outgoing, finished } = complete(draft.state.playback, key)
  set(draft, { playback })
  sendOut(draft, outgoing)
  settleHeard(draft, finished, false)
}

function sendOut(draft: Draft, outgoing: readonly Outgoing[]): void {
  for (const { payload, mark } of outgoing) draft.actions.push({ type: 'line.media', payload, mark })
}

function setReply(
  draft: Draft,
  itemId: string,
  responseId: string | null,
  change: Parameters<typeof changeReply>[3],
): void {
  set(draft, { transcript: changeReply(draft.state.transcript, itemId, responseId, change) })
}

/** Whether the service has finished this response too: a later event would open a reply that never ends. */
function isFinished(draft: Draft, responseId: string): boolean {
  return isClosed(draft, responseId) && draft.state.responses.active !== responseId
}

function segmentKey(itemId: string, contentIndex: number): string {
  return `${itemId} ${contentIndex}`
}
