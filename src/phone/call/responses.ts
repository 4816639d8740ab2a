import { innerLabels } from '../../model/port.ts'
import { type Draft, oweReply, set, setCaller, setResponses, setTools } from './call-state.ts'
import type { ServerEvent } from './realtime-protocol.ts'
import { changeReplies, findReply } from './transcript.ts'

type Done = Extract<ServerEvent, { type: 'response.done' }>['response']

/** Number of finished responses and tool calls kept to recognise late events. */
const REMEMBERED = 64

/** Consecutive failed responses after which the caller hears an apology instead of a retry. */
export const MAX_FAILURES = 2

/** Responses to results in a row, after which the caller hears an apology instead of another one. */
const MAX_TOOL_ROUNDS = 12

/**
 * Requests a response now, or as soon as none is active: the service rejects a second concurrent one. At most
 * one request waits; a later one replaces it. Null `instructions` means those of the session.
 */
export function requestResponse(draft: Draft, instructions: string | null): void {
  setResponses(draft, { queued: { instructions } })
  sendQueued(draft)
}

/** Sends the waiting request if no response is active, the caller is silent and no reply is owed. */
export function sendQueued(draft: Draft): void {
  const { responses, caller, model, stage } = draft.state
  if (responses.queued === null || stage.name !== 'live' || !model.ready) return
  if (responses.active !== null || responses.requested !== null) return
  if (caller.speaking || caller.replyOwed !== null) return
  const { instructions } = responses.queued
  const eventId = `create-${model.session}-${responses.requests + 1}`
  setResponses(draft, {
    queued: null,
    requested: { eventId, instructions },
    requestedAtMs: draft.atMs,
    requests: responses.requests + 1,
  })
  const response = instructions === null ? {} : { response: { instructions } }
  draft.actions.push({
    type: 'model.send',
    event: { type: 'response.create', event_id: eventId, ...response },
  })
}

/** Whether the response was interrupted or is done. */
export function isClosed(draft: Draft, responseId: string): boolean {
  return draft.state.responses.closed.includes(responseId)
}

/** After this, no audio of the response reaches the caller. */
export function closeResponse(draft: Draft, responseId: string): void {
  if (isClosed(draft, responseId)) return
  setResponses(draft, { closed: [...draft.state.responses.closed, responseId].slice(-REMEMBERED) })
}

/** Deletes an item that was not heard at all, at once or when its response is done. */
export function deleteUnheard(draft: Draft, itemId: string, responseId: string): void {
  if (draft.state.responses.active === responseId) {
    setResponses(draft, { unheard: [...draft.state.responses.unheard, { itemId, responseId }] })
  } else {
    deleteItem(draft, itemId)
  }
}

/**
 * The service began a response. Cancels it if the caller has begun to speak meanwhile, or the call is ending.
 */
export function responseCreated(draft: Draft, responseId: string): void {
  if (isClosed(draft, responseId)) return
  const { caller, stage, responses } = draft.state
  setResponses(draft, {
    active: responseId,
    activeAs: { instructions: responses.requested?.instructions ?? null, hasAudio: false },
    requested: null,
  })
  setCaller(draft, { replyOwed: null })
  // The service replies to speech only after its end, so this response was requested before the caller spoke.
  if (caller.speaking || stage.name !== 'live') {
    closeResponse(draft, responseId)
    draft.actions.push({
      type: 'model.send',
      event: { type: 'response.cancel', response_id: responseId },
    })
  }
}

/** A response is done: its outcome is known, so its tools may run. */
export function responseDone(draft: Draft, done: Done): void {
  if (draft.state.responses.done.includes(done.id)) return
  setResponses(draft, { done: [...draft.state.responses.done, done.id].slice(-REMEMBERED) })
  const interrupted = isClosed(draft, done.id)
  closeResponse(draft, done.id)
  if (draft.state.responses.active === done.id) setResponses(draft, { active: null })
  const { status, status_details: details, usage } = done
  const input = usage?.input_token_details
  const isMute = !interrupted && saidNothing(draft, done)
  const failure = status === 'failed' ? (details?.error?.code ?? 'unknown') : isMute ? 'no_audio' : null
  if (failure !== null || status === 'incomplete')
    draft.actions.push({
      type: 'log',
      message: 'a response of a call failed',
      detail: [status, failure, details?.reason].filter(Boolean).join(', '),
    })
  // Words without audio, left in the conversation, lead to more of them.
  deleteUnheardOf(draft, done, interrupted || isMute)
  const isRetried = failure !== null && !interrupted && retryFailed(draft, failure)
  draft.actions.push({
    type: 'response.finished',
    response: {
      responseId: done.id,
      failure,
      isRetried,
      usage: {
        inputTokens: usage?.input_tokens ?? 0,
        outputTokens: usage?.output_tokens ?? 0,
        cachedTokens: input?.cached_tokens ?? 0,
      },
      audio: {
        input: input?.audio_tokens ?? 0,
        cachedInput: input?.cached_tokens_details?.audio_tokens ?? 0,
        output: usage?.output_token_details?.audio_tokens ?? 0,
      },
    },
  })
  settleGenerated(draft, done)
  if (status === 'completed') runTools(draft, done)
  if (status === 'completed' && failure === null) setResponses(draft, { failures: 0 })
  sendQueued(draft)
}

/** Whether a response has words but no audio, which happens. A model may also choose to say nothing. */
function saidNothing(draft: Draft, { status, output }: Done): boolean {
  const has = (item: string) => output.some(({ type }) => type === item)
  const isOver = status === 'incomplete' || (status === 'completed' && has('message'))
  return isOver && !has('function_call') && !draft.state.responses.activeAs.hasAudio
}

/**
 * Passes a tool's result to the model. Once no tool is running, requests one response for all results, unless
 * the caller's words will cause one.
 */
export function toolReturned(draft: Draft, callId: string, output: string): void {
  const { tools, model } = draft.state
  const call = tools.running.find((running) => running.callId === callId)
  if (!call) return
  setTools(draft, { running: tools.running.filter((running) => running !== call) })
  if (!model.ready) {
    setTools(draft, { returned: [...draft.state.tools.returned, { name: call.name, output }] })
    return
  }
  if (call.session === model.session) {
    const item = { type: 'function_call_output' as const, call_id: callId, output }
    draft.actions.push({ type: 'model.send', event: { type: 'conversation.item.create', item } })
  } else {
    sendResult(draft, call.name, output)
  }
  if (mayRequestReply(draft)) replyToResults(draft)
}

/** A model that obeys what it reads may call tools without end. */
function replyToResults(draft: Draft): void {
  const { queued, toolRounds } = draft.state.responses
  if (queued === null && toolRounds >= MAX_TOOL_ROUNDS) {
    setResponses(draft, { failures: MAX_FAILURES })
    return
  }
  setResponses(draft, { toolRounds: toolRounds + 1 })
  requestResponse(draft, queued?.instructions ?? null)
}

/** Passes on what the keypad did. Without a session that is ready, the next one is told. */
export function keypadTold(draft: Draft, text: string, asksReply: boolean): void {
  const { tools, model, options, responses } = draft.state
  if (model.ready) sendData(draft, options.delimit(innerLabels.keypad, text))
  else setTools(draft, { returned: [...tools.returned, { name: 'the keypad', output: text }] })
  if (!asksReply) return
  setResponses(draft, { toolRounds: 0 })
  setCaller(draft, { hasAsked: true })
  if (mayRequestReply(draft)) requestResponse(draft, responses.queued?.instructions ?? null)
}

/**
 * Whether new data, or a request that was refused, needs a request. A running tool or the caller's words will cause a
 * response anyway.
 */
function mayRequestReply({ state: { tools, caller, stage } }: Draft): boolean {
  // An owed reply will include the data. A reply in progress will not, so the request waits for its end.
  const isCovered = tools.running.length > 0 || caller.speaking || caller.replyOwed !== null
  return stage.name === 'live' && !isCovered
}

/** Passes the tool results that returned while no session was ready to the new session. */
export function sendReturnedResults(draft: Draft): void {
  const { returned } = draft.state.tools
  if (returned.length === 0) return
  setTools(draft, { returned: [] })
  for (const { name, output } of returned) sendResult(draft, name, output)
}

/** A lost session made the call and this one does not know it, so the result is passed as text. */
function sendResult(draft: Draft, name: string, output: string): void {
  sendData(draft, draft.state.options.delimit(`result of ${name}, called before the line broke`, output))
}

/** Adds delimited data to the conversation. Uses the `user` role because the data may be hostile. */
export function sendData(draft: Draft, text: string): void {
  draft.actions.push({
    type: 'model.send',
    event: {
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    },
  })
}

/** The service reported an error, which normally does not end the session. */
export function errorReported(draft: Draft, error: Extract<ServerEvent, { type: 'error' }>['error']): void {
  draft.actions.push({
    type: 'log',
    message: 'the realtime service reported an error',
    detail: `${error.code ?? 'no code'}: ${error.message}`,
  })
  const { requested, queued } = draft.state.responses
  if (!requested) return
  if (error.code === 'conversation_already_has_active_response') {
    // Another response is already in progress. Ours is queued behind it.
    setResponses(draft, { requested: null, queued: { instructions: requested.instructions } })
    if (draft.state.responses.active === null) oweReply(draft, { isOptional: true })
  } else if (error.event_id === requested.eventId) {
    setResponses(draft, { requested: null })
    if (mayRequestReply(draft)) retry(draft, queued?.instructions ?? requested.instructions)
    sendQueued(draft)
  }
}

function runTools(draft: Draft, done: Done): void {
  for (const item of done.output) {
    const { tools, model } = draft.state
    if (item.type !== 'function_call' || (item.status ?? 'completed') !== 'completed') continue
    if (item.call_id === undefined || item.name === undefined || tools.seen.includes(item.call_id)) continue
    const call = { callId: item.call_id, name: item.name }
    setTools(draft, {
      running: [...tools.running, { ...call, session: model.session }],
      seen: [...tools.seen, item.call_id].slice(-REMEMBERED),
    })
    draft.actions.push({ type: 'tool.run', ...call, arguments: item.arguments ?? '{}' })
  }
}

function retryFailed(draft: Draft, failure: string): boolean {
  if (failure !== 'timeout') return retry(draft, draft.state.responses.activeAs.instructions)
  // The caller has waited long enough.
  setResponses(draft, { failures: MAX_FAILURES })
  return false
}

function retry(draft: Draft, instructions: string | null): boolean {
  const failures = draft.state.responses.failures + 1
  setResponses(draft, { failures })
  if (failures < MAX_FAILURES) requestResponse(draft, instructions)
  return failures < MAX_FAILURES
}

function deleteUnheardOf(draft: Draft, done: Done, interrupted: boolean): void {
  const { unheard } = draft.state.responses
  const due = unheard.filter((item) => item.responseId === done.id).map((item) => item.itemId)
  setResponses(draft, { unheard: unheard.filter((item) => item.responseId !== done.id) })
  if (interrupted) {
    for (const { type, id } of done.output) {
      if (type === 'message' && id !== undefined && !due.includes(id) && wasUnheard(draft, id)) due.push(id)
    }
  }
  for (const itemId of due) deleteItem(draft, itemId)
}

/** Whether no audio of an item was sent. The interruption itself handles items with audio. */
function wasUnheard(draft: Draft, itemId: string): boolean {
  if (draft.state.transcript.released.includes(itemId)) return false
  const reply = findReply(draft.state.transcript, itemId)
  return reply === null || reply.heard === null
}

function deleteItem(draft: Draft, itemId: string): void {
  draft.actions.push({ type: 'model.send', event: { type: 'conversation.item.delete', item_id: itemId } })
}

/** Nothing more will be generated for this response. Replies without audio count as not heard. */
function settleGenerated(draft: Draft, done: Done): void {
  const playing = new Set(draft.state.playback.segments.map((segment) => segment.itemId))
  const transcript = changeReplies(
    draft.state.transcript,
    (reply) => reply.responseId === done.id,
    (reply) => {
      const interrupted = done.status !== 'completed' || reply.generatedBytes > 0
      const heard = playing.has(reply.itemId) ? null : { heardMs: 0, sentMs: 0, interrupted }
      return { ...reply, generated: true, heard: reply.heard ?? heard }
    },
  )
  set(draft, { transcript })
}
