import type { CallFact, CallState } from './call-state.ts'
import { heardText } from './heard-text.ts'
import { BYTES_PER_MS } from './mu-law.ts'
import type { Entry, Reply } from './transcript.ts'

/** Something that is being said and is no fact yet. `text` null: the words are not known yet. */
export type TalkLine = {
  readonly itemId: string
  readonly by: 'caller' | 'delegate'
  readonly text: string | null
}

/** What can be watched of a call while it goes on: who speaks, and what is said, in the order of the conversation. */
export type Talk = {
  readonly speaking: 'caller' | 'delegate' | null
  readonly lines: readonly TalkLine[]
}

/** Unhurried speech takes this long for a character; what a reply is measured by until all of it is generated. */
const MS_A_CHARACTER = 65

/** A preview of the facts to come; never more of a reply than the caller has heard. */
export function talkOf(state: CallState): Talk {
  const isPlaying = state.playback.segments.some(({ itemId }) => itemId !== null)
  return {
    speaking: state.caller.speaking ? 'caller' : isPlaying ? 'delegate' : null,
    lines: state.transcript.pending.flatMap((entry) => lineOf(state, entry)),
  }
}

function lineOf(state: CallState, entry: Entry): TalkLine[] {
  const { itemId } = entry
  if (entry.kind === 'anchor') return []
  if (entry.kind === 'utterance') {
    // Noise that was taken for speech: nobody said anything.
    if (entry.settled && (entry.text ?? '').trim() === '') return []
    return [{ itemId, by: 'caller', text: entry.text }]
  }
  const text = spokenSoFar(state, entry)
  return text === '' ? [] : [{ itemId, by: 'delegate', text }]
}

function spokenSoFar({ playback }: CallState, reply: Reply): string {
  const { generatedText, generatedBytes, generated, heard, itemId } = reply
  const segment = playback.segments.find((each) => each.itemId === itemId)
  const heardMs = heard?.heardMs ?? Math.floor((segment?.playedBytes ?? 0) / BYTES_PER_MS)
  const generatedMs = Math.floor(generatedBytes / BYTES_PER_MS)
  // Text is generated ahead of its audio: a share of what there is would show words before they are spoken.
  const wholeMs = generated ? generatedMs : Math.max(generatedMs, generatedText.length * MS_A_CHARACTER)
  return heardText(generatedText, heardMs, wholeMs)
}

/** The same of a fact that is on its way to the disk; null where nobody said anything. */
export function lineOfFact(fact: CallFact): TalkLine | null {
  if (fact.type !== 'call.utterance.heard' && fact.type !== 'call.reply.spoken') return null
  const by = fact.type === 'call.reply.spoken' ? 'delegate' : 'caller'
  return { itemId: fact.facts.itemId, by, text: fact.body.text }
}
