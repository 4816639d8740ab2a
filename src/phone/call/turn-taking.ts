import { callerStarted, callerStopped, utteranceCommitted, utteranceTranscribed } from './barge-in.ts'
import {
  type CallAction,
  type CallEvent,
  type CallOptions,
  type CallState,
  type Draft,
  initialState,
  set,
  setCaller,
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
  keypadTold,
  MAX_FAILURES,
  requestResponse,
  responseCreated,
  responseDone,
  sendData,
  toolReturned,
} from './responses.ts'
import {
  checkDeadlines,
  closeAndLose,
  lineResumed,
  noteExpiry,
  rotateWhenDue,
  sessionConfigured,
  sessionLost,
} from './sessions.ts'
import { changeReply, placeItem, settleOverdue } from './transcript.ts'

export type Step = { readonly state: CallState; readonly actions: readonly CallAction[] }

/** Starts a call whose line was accepted: records it and opens the first model session. */
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
 * - No truncation beyond the audio sent, or more than the medium's slack beyond the audio acknowledged as played.
 * - At most one requested response at a time.
 * - Every fact once, in conversation order.
 * - No action after `ended`.
 */
export function step(state: CallState, event: CallEvent): Step {
  if (state.stage.name === 'ended') return { state, actions: [] }
  const draft: Draft = { state: { ...state }, actions: [], atMs: event.atMs }
  ;(handlers[event.type] as (draft: Draft, event: CallEvent) => void)(draft, event)
  if (draft.state.stage.name !== 'ended') {
    finishLeaving(draft)
    recordSettled(draft)
    noteQuiet(draft)
  }
  return { state: draft.state, actions: draft.actions }
}

type EventOf<T extends CallEvent['type']> = Extract<CallEvent, { type: T }>
type Said<T extends ServerEvent['type']> = Extract<ServerEvent, { type: T }>

const handlers: { readonly [T in CallEvent['type']]: (draft: Draft, event: EventOf<T>) => void } = {
  'model.said': (draft, { session, event }) => modelSaid(draft, session, event),
  'model.alive': (draft, { session }) => noteSign(draft, session),
  'model.expires': (draft, { session, inMs }) => noteExpiry(draft, session, inMs),
  'model.closed': (draft, { session }) => sessionLost(draft, session),
  'line.mark': (draft, { name }) => markReturned(draft, name),
  'line.resumed': lineResumed,
  'line.ended': (draft, { reason }) => endCall(draft, reason, 'gone'),
  'hangup.requested'(draft, { reason }) {
    if (reason === 'halted') leave(draft, 'halted', reason)
    else endCall(draft, reason, 'hangUp')
  },
  'tool.returned'(draft, { callId, output }) {
    toolReturned(draft, callId, output)
    sayTrouble(draft)
  },
  'memory.surfaced'(draft, { text }) {
    if (draft.state.model.ready) sendData(draft, text)
  },
  // A guest hears nothing of the owner's money.
  'allowance.spent': (draft) =>
    leave(draft, draft.state.options.party === 'guest' ? 'time_up' : 'allowance', 'allowance'),
  'keypad.told': (draft, { text, asksReply }) => keypadTold(draft, text, asksReply),
  tick,
}

/** What to do when the model that the caller talks to says something. */
const heard: { readonly [T in ServerEvent['type']]: (draft: Draft, event: Said<T>) => void } = {
  'session.updated': (draft, { session }) => sessionConfigured(draft, session),
  'input_audio_buffer.speech_started'(draft) {
    if (draft.state.stage.name === 'live') callerStarted(draft)
  },
  'input_audio_buffer.speech_stopped': callerStopped,
  'input_audio_buffer.committed': (draft, { item_id, previous_item_id }) =>
    utteranceCommitted(draft, item_id, previous_item_id),
  'conversation.item.added': (draft, { item, previous_item_id }) =>
    set(draft, { transcript: placeItem(draft.state.transcript, item.id, previous_item_id) }),
  'conversation.item.input_audio_transcription.completed': (draft, { item_id, transcript }) =>
    utteranceTranscribed(draft, item_id, transcript),
  'conversation.item.input_audio_transcription.failed': (draft, { item_id }) =>
    utteranceTranscribed(draft, item_id, null),
  'response.created': (draft, { response }) => responseCreated(draft, response.id),
  'response.output_item.added': (draft, { response_id, item }) => replyAdded(draft, response_id, item),
  'response.output_audio.delta': audioDelta,
  'response.output_audio.done': (draft, { item_id, content_index }) =>
    audioDone(draft, item_id, content_index),
  'response.output_audio_transcript.delta': transcriptDelta,
  'response.output_audio_transcript.done': transcriptDone,
  'response.done'(draft, { response }) {
    completeResponseAudio(draft, response.id)
    responseDone(draft, response)
    sayTrouble(draft)
  },
  error: (draft, { error }) => modelErred(draft, error),
}

/** Any event shows that the service is busy, for example with the long arguments of a tool. */
function noteSign(draft: Draft, session: number): void {
  if (session === draft.state.model.session) set(draft, { lastSignMs: draft.atMs })
}

function modelSaid(draft: Draft, session: number, event: ServerEvent): void {
  const { model } = draft.state
  if (session !== model.session) return
  noteSign(draft, session)
  if (model.ready || event.type === 'session.updated' || event.type === 'error')
    (heard[event.type] as (draft: Draft, event: ServerEvent) => void)(draft, event)
}

/** An error normally does not end the session, unless it expired or was not configured yet. */
function modelErred(draft: Draft, error: Extract<ServerEvent, { type: 'error' }>['error']): void {
  const isExpired = error.code === 'session_expired'
  if (!isExpired) errorReported(draft, error)
  if (isExpired || !draft.state.model.ready) closeAndLose(draft)
  else sayTrouble(draft)
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

/** Apologises after MAX_FAILURES failed responses or too many tools, unless the caller waits for no answer. */
function sayTrouble(draft: Draft): void {
  if (draft.state.responses.failures < MAX_FAILURES || !draft.state.caller.hasAsked) return
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
    // The model could not even ask whether the caller is there.
    if (draft.state.responses.failures >= MAX_FAILURES) leave(draft, 'trouble', 'silence')
    else endCall(draft, 'silence', 'hangUp')
    return
  }
  set(draft, { checkInsMade: checkInsMade + 1 })
  setCaller(draft, { hasAsked: false })
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
