import { silence } from './barge-in.ts'
import { type Draft, set, setCaller, setModel, setResponses } from './call-state.ts'
import { endCall } from './ending.ts'
import type { ServerEvent } from './realtime-protocol.ts'
import { say } from './reply-audio.ts'
import { requestResponse, sendQueued, sendReturnedResults } from './responses.ts'
import { isOwedWords, settleAll } from './transcript.ts'

type Session = Extract<ServerEvent, { type: 'session.updated' }>['session']

const AUDIO_FORMAT = 'audio/pcmu'
/** The service's limit for a session. */
const SESSION_MS = 60 * 60_000
const ROTATION_RETRY_MS = 60_000

/**
 * The service confirmed our settings, so the session takes over. Nothing is played before that, because audio
 * in the wrong format is noise to the caller.
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
  sendReturnedResults(draft)
  requestResponse(draft, model.opening)
}

/** Opens the next session in a quiet moment, while the current one continues. */
export function rotateWhenDue(draft: Draft): void {
  const { model } = draft.state
  if (!model.ready || model.next || draft.atMs < model.rotateAtMs || !mayRotate(draft)) return
  const session = model.lastSession + 1
  setModel(draft, { next: { session, sinceMs: draft.atMs }, lastSession: session })
  draft.actions.push({ type: 'model.open', session })
}

/** A session closed or timed out. The current one is replaced once; after that the call ends. */
export function sessionLost(draft: Draft, session: number): void {
  const { model, options, stage } = draft.state
  if (session === model.next?.session) {
    dropNext(draft)
    return
  }
  if (session !== model.session || stage.name === 'ended') return
  // The last phrase needs no model and plays to its end.
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

/** Treats a session as lost if it does not open in time or owes an event for too long. */
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
  // Without any event since the caller stopped, the session is lost. Else the service found nothing to
  // answer.
  if (signs.count === caller.replyOwed.signs) {
    closeAndLose(draft)
    return
  }
  setCaller(draft, { replyOwed: null })
  sendQueued(draft)
}

/** Schedules a rotation before the session expires. Never at once, because the two clocks may differ. */
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

/** Adopts the prepared session, unless somebody has begun to speak and made it stale. */
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
  const { quietSinceMs, transcript } = draft.state
  // Only the session that heard these words can transcribe them, and the next one would not know them.
  return quietSinceMs !== null && !isOwedWords(transcript)
}

/** Gives up the session. The caller's audio now goes to the next one. */
export function closeAndLose(draft: Draft): void {
  const { session } = draft.state.model
  draft.actions.push({ type: 'model.close', session })
  sessionLost(draft, session)
}

/** Drops everything that the lost session still owed and settles what it said. */
function forgetSession(draft: Draft): void {
  silence(draft)
  setResponses(draft, { active: null, requested: null, queued: null, unheard: [], failures: 0 })
  setCaller(draft, { speaking: false, replyOwed: null })
  set(draft, { transcript: settleAll(draft.state.transcript) })
}

function speaksMuLaw(session: Session): boolean {
  const formats = [session.audio?.input?.format?.type, session.audio?.output?.format?.type]
  // A service that does not echo the format cannot be checked.
  return formats.every((format) => format === undefined || format === AUDIO_FORMAT)
}
