import type { CallFact, CallState } from './call-state.ts'
import { heardText } from './heard-text.ts'
import { MS_A_CHARACTER } from './medium.ts'
import type { Entry, Reply } from './transcript.ts'

/** Words that are not recorded yet. `text` is null until they are known. */
export type TalkLine = {
  readonly itemId: string
  readonly by: 'caller' | 'delegate'
  readonly text: string | null
}

/** A live preview of a call: who is speaking, and the words so far in conversation order. */
export type Talk = {
  readonly speaking: 'caller' | 'delegate' | null
  readonly lines: readonly TalkLine[]
}

/** Previews facts before they are recorded. Shows no more of a reply than the caller has heard. */
export function talkOf(state: CallState): Talk {
  const isPlaying = state.playback.segments.length > 0
  return {
    speaking: state.caller.speaking ? 'caller' : isPlaying ? 'delegate' : null,
    lines: state.transcript.pending.flatMap((entry) => lineOf(state, entry)),
  }
}

function lineOf(state: CallState, entry: Entry): TalkLine[] {
  const { itemId } = entry
  if (entry.kind === 'anchor') return []
  if (entry.kind === 'utterance') {
    // The service took noise for speech.
    if (entry.settled && (entry.text ?? '').trim() === '') return []
    return [{ itemId, by: 'caller', text: entry.text }]
  }
  const text = spokenSoFar(state, entry)
  return text === '' ? [] : [{ itemId, by: 'delegate', text }]
}

function spokenSoFar({ playback, options }: CallState, reply: Reply): string {
  const { generatedText, generatedBytes, generated, heard, itemId } = reply
  const { msPerByte } = options.medium
  const segment = playback.segments.find((each) => each.itemId === itemId)
  const heardMs = heard?.heardMs ?? Math.floor((segment?.playedBytes ?? 0) * msPerByte)
  const generatedMs = Math.floor(generatedBytes * msPerByte)
  // Text is generated ahead of its audio, so the audio so far would make the heard share too large.
  const wholeMs = generated ? generatedMs : Math.max(generatedMs, generatedText.length * MS_A_CHARACTER)
  return heardText(generatedText, heardMs, wholeMs)
}

/** The same for a fact that is being recorded; null if it holds no words. */
export function lineOfFact(fact: CallFact): TalkLine | null {
  if (fact.type !== 'call.utterance.heard' && fact.type !== 'call.reply.spoken') return null
  const by = fact.type === 'call.reply.spoken' ? 'delegate' : 'caller'
  return { itemId: fact.facts.itemId, by, text: fact.body.text }
}
