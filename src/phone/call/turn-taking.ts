import { callerStarted, callerStopped, utteranceCommitted, utteranceTranscribed } from './barge-in.ts'
import {
  type CallAction,
  type CallEvent,
  type CallOptions,
  type CallState,
  type Draft,
  initialState,
  set,
  setResponses,
} from './call-state.ts'
import { endCall, finishLeaving, leave, recordSettled } from './ending.ts'
import type { ServerEvent } from './realtime-protocol.ts'
import {
  audioDelta,
  audioDone,
  completeResponseAudio,
  markReturned,
  say,
  transcriptDelta,
  transcriptDone,
} from './reply-audio.ts'
import {
  errorReported,
  MAX_FAILURES,
  requestResponse,
  responseCreated,
  responseDone,
  sendData,
  toolReturned,
} from './responses.ts'
import { checkDeadlines, noteExpiry, rotateWhenDue, sessionConfigured, sessionLost } from './sessions.ts'
import { changeReply, placeItem, settleOverdue } from './transcript.ts'

export type Step = { readonly state: CallState; readonly actions: readonly CallAction[] }

/** Starts a call whose stream was accepted: records it and opens the first model session. */
export function begin(options: CallOptions, atMs: number): Step {
  const { callSid, streamSid, party } = options
  const state = initialState(options, atMs)
  return {
    state,
    actions: [
      {
        type: 'record',
        facts: [
          {
            type: 'call.connected',
            actor: party,
            channel: 'voice',
            key: `call:${callSid}:connected`,
            facts: { callSid, streamSid, party },
          },
        ],
      },
      { type: 'model.open', session: state.model.session },
    ],
  }
}

/**
 * The complete behaviour of a call, as a pure function. Guarantees for any order of events:
 *
 * - At most one `clear` per interruption, and no audio of the interrupted reply after it.
 * - No truncation beyond the audio sent, or more than HEARD_SLACK_MS beyond the audio acknowledged as played.
 * - At most one requested response at a time.
 * - Every fact once, in conversation order.
 * - No action after `ended`.
 */
export function step(state: CallState, event: CallEvent): Step {
  if (state.stage.name === 'ended') return { state, actions: [] }
  const draft: Draft = { state: { ...state }, actions: [], atMs: event.atMs }
  apply(draft, event)
  if (draft.state.stage.name !== 'ended') {
    finishLeaving(draft)
    recordSettled(draft)
    noteQuiet(draft)
  }
  return { state: draft.state, actions: draft.actions }
}

function apply(draft: Draft, event: CallEvent): void {
  switch (event.type) {
    case 'model.said':
      modelSaid(draft, event.session, event.event)
      break
    case 'model.expires':
      noteExpiry(draft, event.session, event.inMs)
      break
    case 'model.closed':
      sessionLost(draft, event.session)
      break
    case 'line.mark':
      markReturned(draft, event.name)
      break
    case 'line.ended':
      endCall(draft, event.reason, 'gone')
      break
    case 'hangup.requested':
      endCall(draft, event.reason, 'hangUp')
      break
    case 'tool.returned':
      toolReturned(draft, event.callId, event.output)
      break
    case 'memory.surfaced':
      if (draft.state.model.ready) sendData(draft, event.text)
      break
    case 'tick':
      tick(draft)
      break
  }
}

function modelSaid(draft: Draft, session: number, event: ServerEvent): void {
  const { model } = draft.state
  if (session !== model.session && session !== model.next?.session) return
  if (event.type === 'session.updated') {
    sessionConfigured(draft, session, event.session)
    return
  }
  if (session !== model.session) return
  set(draft, { signs: { lastMs: draft.atMs, count: draft.state.signs.count + 1 } })
  if (!model.ready) {
    notReadyYet(draft, session, event)
    return
  }
  switch (event.type) {
    case 'session.created':
      return
    case 'input_audio_buffer.speech_started':
      if (draft.state.stage.name === 'live') callerStarted(draft)
      break
    case 'input_audio_buffer.speech_stopped':
      callerStopped(draft)
      break
    case 'input_audio_buffer.committed':
      utteranceCommitted(draft, event.item_id, event.previous_item_id)
      break
    case 'conversation.item.added':
      set(draft, {
        transcript: placeItem(draft.state.transcript, event.item.id, event.previous_item_id),
      })
      break
    case 'conversation.item.input_audio_transcription.completed':
      utteranceTranscribed(draft, event.item_id, event.transcript)
      break
    case 'conversation.item.input_audio_transcription.failed':
      utteranceTranscribed(draft, event.item_id, null)
      break
    case 'response.created':
      responseCreated(draft, event.response.id)
      break
    case 'response.output_item.added':
      replyAdded(draft, event.response_id, event.item)
      break
    case 'response.output_audio.delta':
      audioDelta(draft, event)
      break
    case 'response.output_audio.done':
      audioDone(draft, event.item_id, event.content_index)
      break
    case 'response.output_audio_transcript.delta':
      transcriptDelta(draft, event)
      break
    case 'response.output_audio_transcript.done':
      transcriptDone(draft, event)
      break
    case 'response.done':
      completeResponseAudio(draft, event.response.id)
      responseDone(draft, event.response)
      sayTrouble(draft)
      break
    case 'error':
      if (event.error.code === 'session_expired') {
        // The caller's audio now goes to the next session.
        draft.actions.push({ type: 'model.close', session })
        sessionLost(draft, session)
        return
      }
      errorReported(draft, event.error)
      break
  }
}

/** Before the session is configured, any error means that it never will be. */
function notReadyYet(draft: Draft, session: number, event: ServerEvent): void {
  if (event.type !== 'error') return
  errorReported(draft, event.error)
  draft.actions.push({ type: 'model.close', session })
  sessionLost(draft, session)
}

function replyAdded(
  draft: Draft,
  responseId: string,
  item: { readonly id?: string | undefined; readonly type: string },
): void {
  if (item.type !== 'message' || item.id === undefined) return
  if (draft.state.responses.active !== responseId) return
  set(draft, { transcript: changeReply(draft.state.transcript, item.id, responseId, (reply) => reply) })
}

/** Plays an apology after MAX_FAILURES failed responses, so that the caller is not left in silence. */
function sayTrouble(draft: Draft): void {
  if (draft.state.responses.failures < MAX_FAILURES) return
  setResponses(draft, { failures: 0 })
  say(draft, draft.state.options.phrases.trouble)
}

function tick(draft: Draft): void {
  const { limits } = draft.state.options
  if (draft.state.stage.name !== 'live') return
  if (limits.maxCallMs !== null && draft.atMs - draft.state.startedAtMs >= limits.maxCallMs) {
    leave(draft, 'time_up', 'time_limit')
    return
  }
  set(draft, { transcript: settleOverdue(draft.state.transcript, draft.atMs - limits.transcriptMs) })
  checkDeadlines(draft)
  if (draft.state.stage.name !== 'live') return
  rotateWhenDue(draft)
  breakSilence(draft)
}

/** Checks in after a long silence, and finally hangs up. */
function breakSilence(draft: Draft): void {
  const { quietSinceMs, checkInsMade, options } = draft.state
  if (quietSinceMs === null || draft.atMs - quietSinceMs < options.limits.silenceMs) return
  if (checkInsMade >= options.limits.checkIns) {
    endCall(draft, 'silence', 'hangUp')
    return
  }
  set(draft, { checkInsMade: checkInsMade + 1 })
  requestResponse(draft, options.checkIn)
}

/** Silence begins at the end of playback, not of generation. */
function noteQuiet(draft: Draft): void {
  const { state } = draft
  const { responses, caller, playback, tools, model } = state
  const quiet =
    model.ready &&
    responses.active === null &&
    responses.requested === null &&
    responses.queued === null &&
    !caller.speaking &&
    caller.replyOwed === null &&
    playback.segments.length === 0 &&
    tools.running.length === 0
  if (quiet !== (state.quietSinceMs !== null)) set(draft, { quietSinceMs: quiet ? draft.atMs : null })
}
