import { silence } from './barge-in.ts'
import { type Draft, set, setCaller, setModel, setResponses } from './call-state.ts'
import { endCall } from './ending.ts'
import type { ServerEvent } from './realtime-protocol.ts'
import { say } from './reply-audio.ts'
import { requestResponse, sendQueued, tellAllReturned } from './responses.ts'
import { changeReplies, isOwedWords, settleOverdue } from './transcript.ts'

type Session = Extract<ServerEvent, { type: 'session.updated' }>['session']

const AUDIO_FORMAT = 'audio/pcmu'
/** What the service grants a session. */
const SESSION_MS = 60 * 60_000
/** How long a rotation that failed is left alone. */
const ROTATION_RETRY_MS = 60_000

/**
 * The service confirmed our settings. Nobody speaks before that, because the wrong audio format is noise in
 * the caller's ear; then the session that waited takes over.
 */
export function sessionConfigured(draft: Draft, session: number, confirmed: Session): void {
  const { model } = draft.state
  if (session === model.session && model.ready) return
  if (!speaksMuLaw(confirmed)) {
    draft.actions.push({
      type: 'log',
      message: 'the realtime service does not speak mu-law',
      detail: JSON.stringify(confirmed.audio ?? null),
    })
    if (session === model.session) endCall(draft, 'wrong_format', 'close')
    else dropNext(draft)
    return
  }
  if (session === model.next?.session) {
    takeOver(draft)
    return
  }
  adopt(draft, session)
  tellAllReturned(draft)
  requestResponse(draft, model.opening)
}

/** Opens the next session while the present one goes on, in a moment in which nobody would notice. */
export function rotateWhenDue(draft: Draft): void {
  const { model } = draft.state
  if (!model.ready || model.next || draft.atMs < model.rotateAtMs || !mayRotate(draft)) return
  const session = model.lastSession + 1
  setModel(draft, { next: { session, sinceMs: draft.atMs }, lastSession: session })
  draft.actions.push({ type: 'model.open', session })
}

/** A session's socket is gone, or it owes us too much. The present one gets one successor, then we give up. */
export function sessionLost(draft: Draft, session: number): void {
  const { model, options, stage } = draft.state
  if (session === model.next?.session) {
    dropNext(draft)
    return
  }
  if (session !== model.session || stage.name === 'ended') return
  // Our own last phrase needs no model, and is heard to its end.
  if (stage.name === 'leaving') {
    setModel(draft, { ready: false })
    return
  }
  forgetSession(draft)
  const healthy = model.ready && draft.atMs - model.sinceMs >= options.limits.healthyMs
  const retries = healthy ? 1 : model.retries
  if (retries === 0) {
    endCall(draft, 'model_lost', 'close')
    return
  }
  say(draft, options.phrases.reconnecting)
  const next = model.lastSession + 1
  setModel(draft, {
    session: next,
    ready: false,
    sinceMs: draft.atMs,
    next: null,
    lastSession: next,
    retries: retries - 1,
    opening: model.ready ? options.resume : model.opening,
  })
  draft.actions.push({ type: 'model.open', session: next })
}

/** Declares sessions lost that do not open, or that owe an event for too long. */
export function checkDeadlines(draft: Draft): void {
  const { model, signs, responses, caller, options } = draft.state
  const { openMs, stallMs } = options.limits
  if (model.next && draft.atMs - model.next.sinceMs >= openMs) dropNext(draft)
  if (!model.ready) {
    if (draft.atMs - model.sinceMs >= openMs) closeAndLose(draft)
    return
  }
  const owed = responses.requested !== null || responses.active !== null
  const lastSignMs = Math.max(signs.lastMs, responses.requestedAtMs)
  if (owed && draft.atMs - lastSignMs >= stallMs) {
    closeAndLose(draft)
    return
  }
  if (caller.replyOwed === null || draft.atMs - caller.replyOwed.sinceMs < stallMs) return
  // Not a sign of life since the caller stopped: lost. Otherwise the service saw nothing to answer.
  if (signs.count === caller.replyOwed.signs) {
    closeAndLose(draft)
    return
  }
  setCaller(draft, { replyOwed: null })
  sendQueued(draft)
}

/**
 * The end of a session by its own account: our reserve before that. Never at once, because the account rests
 * on two clocks that agree.
 */
export function noteExpiry(draft: Draft, session: number, inMs: number): void {
  const { model, options } = draft.state
  if (session !== model.session || !model.ready) return
  const reserveMs = SESSION_MS - options.limits.rotateAfterMs
  const rotateAtMs = draft.atMs + Math.max(inMs - reserveMs, reserveMs)
  setModel(draft, { rotateAtMs: Math.min(model.rotateAtMs, rotateAtMs) })
}

function adopt(draft: Draft, session: number): void {
  const { limits } = draft.state.options
  setModel(draft, {
    session,
    ready: true,
    sinceMs: draft.atMs,
    rotateAtMs: draft.atMs + limits.rotateAfterMs,
    next: null,
  })
  draft.actions.push({ type: 'model.adopt', session })
}

/** The prepared session becomes the present one, unless somebody began to speak: then it is stale. */
function takeOver(draft: Draft): void {
  const { model } = draft.state
  if (!model.next) return
  if (!mayRotate(draft)) {
    dropNext(draft)
    return
  }
  adopt(draft, model.next.session)
  draft.actions.push({ type: 'model.close', session: model.session })
}

function dropNext(draft: Draft): void {
  const { next } = draft.state.model
  if (!next) return
  draft.actions.push({ type: 'model.close', session: next.session })
  setModel(draft, { next: null, rotateAtMs: draft.atMs + ROTATION_RETRY_MS })
}

function mayRotate(draft: Draft): boolean {
  const { quietSinceMs, responses, caller, tools, model, options, transcript } = draft.state
  // They are written down by the session that heard them, and the next one would not know them.
  if (isOwedWords(transcript)) return false
  if (quietSinceMs !== null) return true
  // Late in the session playback alone no longer holds it up: what was generated is at the provider already.
  const overdue = draft.atMs - model.sinceMs >= options.limits.rotateByMs
  const generating = responses.active !== null || responses.requested !== null || responses.queued !== null
  const listening = caller.speaking || caller.replyOwed !== null
  return overdue && !generating && !listening && tools.running.length === 0
}

function closeAndLose(draft: Draft): void {
  const { session } = draft.state.model
  draft.actions.push({ type: 'model.close', session })
  sessionLost(draft, session)
}

/** Nothing of the lost session can follow: what it said is final, what it owed is gone. */
function forgetSession(draft: Draft): void {
  silence(draft)
  setResponses(draft, { active: null, requested: null, queued: null, unheard: [], failures: 0 })
  setCaller(draft, { speaking: false, replyOwed: null })
  const unheard = { heardMs: 0, sentMs: 0, interrupted: true }
  const replied = changeReplies(
    draft.state.transcript,
    () => true,
    (reply) => ({ ...reply, generated: true, heard: reply.heard ?? unheard }),
  )
  set(draft, { transcript: settleOverdue(replied, Number.POSITIVE_INFINITY) })
}

function speaksMuLaw(session: Session): boolean {
  const formats = [session.audio?.input?.format?.type, session.audio?.output?.format?.type]
  // A service that echoes nothing cannot be checked; one that echoes something else is wrong.
  return formats.every((format) => format === undefined || format === AUDIO_FORMAT)
}
