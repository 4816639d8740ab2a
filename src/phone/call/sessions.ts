import { silence } from './barge-in.ts'
import { type Draft, type ModelState, set, setCaller, setModel, setResponses } from './call-state.ts'
import { endCall, recordSettled } from './ending.ts'
import type { ServerEvent } from './realtime-protocol.ts'
import { say } from './reply-audio.ts'
import { requestResponse, sendQueued, sendReturnedResults } from './responses.ts'
import { isOwedWords, settleAll } from './transcript.ts'

type Session = Extract<ServerEvent, { type: 'session.updated' }>['session']

/** The service's limit for a session. */
const SESSION_MS = 60 * 60_000

/**
 * The service confirmed our settings, so the session takes over. Nothing is played before that, because audio
 * in the wrong format is noise to the caller.
 */
export function sessionConfigured(draft: Draft, confirmed: Session): void {
  const { model, options } = draft.state
  if (model.ready) return
  if (!speaks(confirmed, options.medium.codec.format.type)) {
    draft.actions.push({
      type: 'log',
      message: 'the realtime service does not speak the format of the line',
      detail: JSON.stringify(confirmed.audio ?? null),
    })
    endCall(draft, 'wrong_format', 'close')
    return
  }
  setModel(draft, {
    ready: true,
    sinceMs: draft.atMs,
    rotateAtMs: draft.atMs + options.limits.rotateAfterMs,
  })
  draft.actions.push({ type: 'model.adopt', session: model.session })
  sendReturnedResults(draft)
  if (model.opening !== null) requestResponse(draft, model.opening)
  else sendQueued(draft)
}

/**
 * Replaces an old session in a quiet moment. Should the caller speak before the next one is ready, it still
 * hears everything, because their audio is held.
 */
export function rotateWhenDue(draft: Draft): void {
  const { model, quietSinceMs, transcript } = draft.state
  if (!model.ready || draft.atMs < model.rotateAtMs || quietSinceMs === null) return
  // Only the session that heard these words can transcribe them, and the next one would not know them.
  if (isOwedWords(transcript)) return
  draft.actions.push({ type: 'model.close', session: model.session })
  openNext(draft, { opening: null, retries: 1 })
}

/** A session closed or timed out. It is replaced once; after that the call ends. */
export function sessionLost(draft: Draft, session: number): void {
  const { model, options, stage } = draft.state
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
  const opening = model.ready ? options.resume : (model.opening ?? options.resume)
  openNext(draft, { opening, retries: retries - 1 })
}

/**
 * The caller is back on a line that had broken. What was being said is lost, so a new session, which knows how
 * much of it was heard, goes on from there.
 */
export function lineResumed(draft: Draft): void {
  const { model, options, stage } = draft.state
  if (stage.name === 'leaving') {
    endCall(draft, stage.reason, 'hangUp')
    return
  }
  silence(draft)
  // A session that is still being opened has said nothing.
  if (!model.ready) return
  forgetSession(draft)
  draft.actions.push({ type: 'model.close', session: model.session })
  say(draft, options.phrases.reconnecting)
  openNext(draft, { opening: options.resume, retries: model.retries })
}

function openNext(draft: Draft, change: Pick<ModelState, 'opening' | 'retries'>): void {
  const session = draft.state.model.session + 1
  setModel(draft, { session, ready: false, sinceMs: draft.atMs, ...change })
  draft.actions.push({ type: 'model.open', session })
}

/** Treats a session as lost if it does not open in time or owes an event for too long. */
export function checkDeadlines(draft: Draft): void {
  const { model, lastSignMs, responses, caller, options } = draft.state
  const { openMs, stallMs, monologueMs, transcriptMs } = options.limits
  if (!model.ready) {
    if (draft.atMs - model.sinceMs >= openMs) closeAndLose(draft)
    return
  }
  const isResponding = responses.requested !== null || responses.active !== null
  const limitMs = isResponding ? stallMs : caller.speaking ? monologueMs : Number.POSITIVE_INFINITY
  if (draft.atMs - Math.max(lastSignMs, responses.requestedAtMs) >= limitMs) {
    closeAndLose(draft)
    return
  }
  const { replyOwed } = caller
  // Without a realtime model, the reply starts after the transcription.
  if (replyOwed === null || draft.atMs - replyOwed.sinceMs < Math.max(stallMs, transcriptMs)) return
  if (!replyOwed.isOptional) {
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

/** Gives up the session. The caller's audio now goes to the next one. */
export function closeAndLose(draft: Draft): void {
  const { session } = draft.state.model
  draft.actions.push({ type: 'model.close', session })
  sessionLost(draft, session)
}

/** Drops everything that the lost session still owed and records what it said, for the plan of the next one. */
function forgetSession(draft: Draft): void {
  silence(draft)
  setResponses(draft, { active: null, requested: null, queued: null, unheard: [], failures: 0 })
  setCaller(draft, { speaking: false, replyOwed: null })
  set(draft, { transcript: settleAll(draft.state.transcript) })
  recordSettled(draft)
}

function speaks(session: Session, type: string): boolean {
  const formats = [session.audio?.input?.format?.type, session.audio?.output?.format?.type]
  // A service that does not echo the format cannot be checked.
  return formats.every((format) => format === undefined || format === type)
}
