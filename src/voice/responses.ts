import { type Draft, oweReply, set, setCaller, setResponses, setTools } from './call-state.ts'
import type { ServerEvent } from './realtime-protocol.ts'
import { changeReplies, findReply } from './transcript.ts'

type Done = Extract<ServerEvent, { type: 'response.done' }>['response']

/** How many ids of finished responses and tool calls are kept to recognise what comes late. */
const REMEMBERED = 64

/** Responses that failed in a row: at the first the model is asked again, at this one the caller is told. */
export const MAX_FAILURES = 2

/**
 * Asks the model to speak, now or as soon as nothing is active: the service refuses a second response beside
 * an active one. At most one request waits; a later one replaces it. Null instructions mean the session's.
 */
export function requestResponse(draft: Draft, instructions: string | null): void {
  setResponses(draft, { queued: { instructions } })
  sendQueued(draft)
}

/** Sends the waiting request once nothing stands in its way: no response, no speech, no reply owed. */
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

/** From here on nothing of this response reaches the caller. */
export function closeResponse(draft: Draft, responseId: string): void {
  if (isClosed(draft, responseId)) return
  setResponses(draft, { closed: [...draft.state.responses.closed, responseId].slice(-REMEMBERED) })
}

/** Deletes an item of which nothing was heard, at once or when the response that made it is done. */
export function deleteUnheard(draft: Draft, itemId: string, responseId: string): void {
  if (draft.state.responses.active === responseId) {
    setResponses(draft, { unheard: [...draft.state.responses.unheard, { itemId, responseId }] })
  } else {
    deleteItem(draft, itemId)
  }
}

/**
 * The service began a reply. One that was asked for before the caller spoke is cancelled, for it answers what
 * is past.
 */
export function responseCreated(draft: Draft, responseId: string): void {
  if (isClosed(draft, responseId)) return
  const { caller, stage } = draft.state
  setResponses(draft, { active: responseId, requested: null })
  setCaller(draft, { replyOwed: null })
  // The service answers speech only after its end, so this was asked for before the caller began to speak.
  if (caller.speaking || stage.name !== 'live') {
    closeResponse(draft, responseId)
    draft.actions.push({
      type: 'model.send',
      event: { type: 'response.cancel', response_id: responseId },
    })
  }
}

/** The one moment at which a response's outcome is known: tools run now and not before. */
export function responseDone(draft: Draft, done: Done): void {
  if (draft.state.responses.done.includes(done.id)) return
  setResponses(draft, { done: [...draft.state.responses.done, done.id].slice(-REMEMBERED) })
  const interrupted = isClosed(draft, done.id)
  closeResponse(draft, done.id)
  if (draft.state.responses.active === done.id) setResponses(draft, { active: null })
  const status = done.status === 'in_progress' ? 'incomplete' : done.status
  draft.actions.push({
    type: 'response.finished',
    response: {
      responseId: done.id,
      status,
      usage: {
        inputTokens: done.usage?.input_tokens ?? 0,
        outputTokens: done.usage?.output_tokens ?? 0,
        cachedTokens: done.usage?.input_token_details?.cached_tokens ?? 0,
      },
    },
  })
  deleteUnheardOf(draft, done, interrupted)
  settleGenerated(draft, done)
  if (status === 'completed') runTools(draft, done)
  if (status === 'completed') setResponses(draft, { failures: 0 })
  if (status === 'failed' && !interrupted) retryFailed(draft)
  sendQueued(draft)
}

/** A tool's result; once none is running, one response for all of them, unless the caller's words bring one. */
export function toolReturned(draft: Draft, callId: string, output: string): void {
  const { tools, model, caller } = draft.state
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
    tellReturned(draft, call.name, output)
  }
  if (draft.state.tools.running.length > 0) return
  // A reply that is still owed will know the result. One that is already being spoken cannot: then the request
  // waits for its end.
  if (caller.speaking || caller.replyOwed !== null) return
  requestResponse(draft, draft.state.responses.queued?.instructions ?? null)
}

/** Tells a new session what returned before it was ready. */
export function tellAllReturned(draft: Draft): void {
  const { returned } = draft.state.tools
  if (returned.length === 0) return
  setTools(draft, { returned: [] })
  for (const { name, output } of returned) tellReturned(draft, name, output)
}

/** The session that asked is gone, and this one does not know the call: it is told in words. */
function tellReturned(draft: Draft, name: string, output: string): void {
  tellModel(draft, draft.state.options.delimit(`result of ${name}, called before the line broke`, output))
}

/** Puts delimited data before the model. The role has no authority of its own: the data may be hostile. */
export function tellModel(draft: Draft, text: string): void {
  draft.actions.push({
    type: 'model.send',
    event: {
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    },
  })
}

/** An error of the service; the session normally lives on. */
export function modelComplained(draft: Draft, error: Extract<ServerEvent, { type: 'error' }>['error']): void {
  draft.actions.push({
    type: 'log',
    message: 'the realtime service reported an error',
    detail: `${error.code ?? 'no code'}: ${error.message}`,
  })
  const { requested } = draft.state.responses
  if (!requested) return
  if (error.code === 'conversation_already_has_active_response') {
    // Ours came second: the other one is on its way, and ours follows when it is done.
    setResponses(draft, { requested: null, queued: { instructions: requested.instructions } })
    if (draft.state.responses.active === null) oweReply(draft)
  } else if (error.event_id === requested.eventId) {
    setResponses(draft, { requested: null })
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

function retryFailed(draft: Draft): void {
  const failures = draft.state.responses.failures + 1
  setResponses(draft, { failures })
  if (failures < MAX_FAILURES) requestResponse(draft, null)
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

/** No audio of it ever went out: an item that had any is dealt with at the interruption. */
function wasUnheard(draft: Draft, itemId: string): boolean {
  if (draft.state.transcript.released.includes(itemId)) return false
  const reply = findReply(draft.state.transcript, itemId)
  return reply === null || reply.heard === null
}

function deleteItem(draft: Draft, itemId: string): void {
  draft.actions.push({ type: 'model.send', event: { type: 'conversation.item.delete', item_id: itemId } })
}

/** What a response generated is final now; what of it never became audio was not heard. */
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
