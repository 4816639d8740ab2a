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
import { BYTES_PER_MS } from './mu-law.ts'
import { say } from './reply-audio.ts'
import { changeReplies, type Reply, release, settleOverdue, type Utterance } from './transcript.ts'

/**
 * Ends the call, once: every fact that is still owed, then the sockets. `how`: the caller is gone already (the
 * provider may have said so while its socket stands open), the call is hung up at the provider, or the stream is
 * closed so that the provider says the rest.
 */
export function endCall(draft: Draft, reason: EndReason, how: 'gone' | 'hangUp' | 'close'): void {
  const { options, startedAtMs, stage, model } = draft.state
  if (stage.name === 'ended') return
  settleEverything(draft)
  tell(draft)
  const durationMs = Math.max(0, Math.round(draft.atMs - startedAtMs))
  draft.actions.push({
    type: 'record',
    facts: [
      {
        type: 'call.ended',
        actor: 'service',
        channel: 'voice',
        key: `call:${options.callSid}:ended`,
        facts: { callSid: options.callSid, reason, durationMs },
      },
    ],
  })
  set(draft, { stage: { name: 'ended' } })
  draft.actions.push({ type: 'model.close', session: model.session })
  if (model.next) draft.actions.push({ type: 'model.close', session: model.next.session })
  draft.actions.push(how === 'hangUp' ? { type: 'line.hangUp', reason } : { type: 'line.close' })
  draft.actions.push({ type: 'ended', reason })
}

/** Says a last phrase in our own voice and hangs up once it was played. */
export function leave(draft: Draft, phrase: PhraseName, reason: EndReason): void {
  if (draft.state.stage.name !== 'live') return
  silence(draft)
  set(draft, {
    stage: { name: 'leaving', reason, byMs: draft.atMs + draft.state.options.limits.farewellMs },
  })
  say(draft, draft.state.options.phrases[phrase])
}

/** Hangs up once the last phrase was played, or took too long. */
export function finishLeaving(draft: Draft): void {
  const { stage, playback } = draft.state
  if (stage.name !== 'leaving') return
  if (playback.segments.length === 0 || draft.atMs >= stage.byMs) endCall(draft, stage.reason, 'hangUp')
}

/** Records what can be told by now, in the order in which it was said. */
export function tell(draft: Draft): void {
  const { transcript, told } = release(draft.state.transcript)
  if (transcript === draft.state.transcript) return
  set(draft, { transcript })
  const facts = told.flatMap((entry) => factOf(draft.state.options, entry))
  if (facts.length > 0) draft.actions.push({ type: 'record', facts })
}

/** The line is going: what is playing was heard as far as the marks say, what is owed will not come. */
function settleEverything(draft: Draft): void {
  silence(draft)
  const transcript = changeReplies(
    draft.state.transcript,
    () => true,
    (reply) => ({
      ...reply,
      generated: true,
      heard: reply.heard ?? { heardMs: 0, sentMs: 0, interrupted: true },
    }),
  )
  set(draft, { transcript: settleOverdue(transcript, Number.POSITIVE_INFINITY) })
}

function factOf(options: CallOptions, entry: Utterance | Reply): CallFact[] {
  const { callSid, party } = options
  const { itemId } = entry
  if (entry.kind === 'utterance') {
    // Noise that the service took for speech: nobody said anything.
    if (entry.text !== null && entry.text.trim() === '') return []
    const facts = { callSid, itemId, party, transcribed: entry.text !== null }
    const key = `call:${callSid}:utterance:${itemId}`
    const body = { text: entry.text ?? '' }
    return [{ type: 'call.utterance.heard', actor: party, channel: 'voice', key, facts, body }]
  }
  const { generatedText, generatedBytes, responseId, heard } = entry
  if (heard === null || (generatedText === '' && heard.sentMs === 0)) return []
  const text = heardText(generatedText, heard.heardMs, Math.floor(generatedBytes / BYTES_PER_MS))
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
