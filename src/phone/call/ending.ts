import { silence } from './barge-in.ts'
import {
  type CallFact,
  type CallOptions,
  type Draft,
  type EndReason,
  type PhraseName,
  set,
} from './call-state.ts'
import { heardText } from './heard-text.ts'
import { say } from './reply-audio.ts'
import { type Reply, release, settleAll, type Utterance } from './transcript.ts'

/**
 * Records all remaining facts, then closes the sockets. Idempotent. `how`: `gone` if the caller has already
 * left, `hangUp` to end the call at the provider, `close` to let the provider continue with its markup.
 */
export function endCall(draft: Draft, reason: EndReason, how: 'gone' | 'hangUp' | 'close'): void {
  const { options, startedAtMs, stage, model } = draft.state
  if (stage.name === 'ended') return
  silence(draft)
  set(draft, { transcript: settleAll(draft.state.transcript) })
  recordSettled(draft)
  const durationMs = Math.max(0, Math.round(draft.atMs - startedAtMs))
  draft.actions.push({
    type: 'record',
    facts: [
      {
        type: 'call.ended',
        actor: 'service',
        channel: 'voice',
        key: `call:${options.callSid}:ended`,
        facts: { callSid: options.callSid, party: options.party, reason, durationMs },
      },
    ],
  })
  set(draft, { stage: { name: 'ended' } })
  draft.actions.push({ type: 'model.close', session: model.session })
  draft.actions.push({ type: how === 'hangUp' ? 'line.hangUp' : 'line.close' })
  draft.actions.push({ type: 'ended' })
}

/** Plays a last phrase, then hangs up. */
export function leave(draft: Draft, phrase: PhraseName, reason: EndReason): void {
  if (draft.state.stage.name !== 'live') return
  silence(draft)
  set(draft, {
    stage: { name: 'leaving', reason, byMs: draft.atMs + draft.state.options.limits.farewellMs },
  })
  say(draft, draft.state.options.phrases[phrase])
}

/** Hangs up once the last phrase has been played or has timed out. */
export function finishLeaving(draft: Draft): void {
  const { stage, playback } = draft.state
  if (stage.name !== 'leaving') return
  if (playback.segments.length === 0 || draft.atMs >= stage.byMs) endCall(draft, stage.reason, 'hangUp')
}

/** Records the settled entries at the head of the transcript. */
export function recordSettled(draft: Draft): void {
  const { transcript, settled } = release(draft.state.transcript)
  if (transcript === draft.state.transcript) return
  set(draft, { transcript })
  const facts = settled.flatMap((entry) => factOf(draft.state.options, entry))
  if (facts.length > 0) draft.actions.push({ type: 'record', facts })
}

function factOf(options: CallOptions, entry: Utterance | Reply): CallFact[] {
  const { callSid, party, medium } = options
  const { itemId } = entry
  if (entry.kind === 'utterance') {
    // The service took noise for speech.
    if (entry.text !== null && entry.text.trim() === '') return []
    const facts = { callSid, itemId, party, transcribed: entry.text !== null }
    const key = `call:${callSid}:utterance:${itemId}`
    const body = { text: entry.text ?? '' }
    return [{ type: 'call.utterance.heard', actor: party, channel: 'voice', key, facts, body }]
  }
  const { generatedText, generatedBytes, responseId, heard } = entry
  if (heard === null || (generatedText === '' && heard.sentMs === 0)) return []
  const text = heardText(generatedText, heard.heardMs, Math.floor(generatedBytes * medium.msPerByte))
  return [
    {
      type: 'call.reply.spoken',
      actor: 'delegate',
      channel: 'voice',
      key: `call:${callSid}:reply:${itemId}`,
      facts: { callSid, itemId, responseId, ...heard },
      body: { text, generatedText },
    },
  ]
}
