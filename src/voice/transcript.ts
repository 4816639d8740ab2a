/**
 * The order in which a call is told. The caller's words often arrive after the reply to them, so each item
 * keeps its place by `previous_item_id` and is filled in later; an item is released once everything before it
 * is settled, so the facts read as the call went.
 */
export type Transcript = {
  readonly pending: readonly Entry[]
  /** The last items that were released: what may still be named as somebody's predecessor. */
  readonly released: readonly string[]
  /** Those of them that were told as what somebody said: once, whatever still comes. */
  readonly told: readonly string[]
}

export type Utterance = {
  readonly kind: 'utterance'
  readonly itemId: string
  readonly previousItemId: string | null
  readonly atMs: number
  /** Null until the transcription is there; null for good when it failed. */
  readonly text: string | null
  readonly settled: boolean
}

export type Reply = {
  readonly kind: 'reply'
  readonly itemId: string
  readonly previousItemId: string | null
  readonly responseId: string | null
  readonly generatedText: string
  /** Everything that was generated, whether it was sent or dropped: the measure of the text. */
  readonly generatedBytes: number
  /** Nothing more will be generated. */
  readonly generated: boolean
  /** Null while it may still be playing. */
  readonly heard: { readonly heardMs: number; readonly sentMs: number; readonly interrupted: boolean } | null
}

/** Tool calls, their results, seeded history: not told, but others stand in line behind them. */
type Anchor = { readonly kind: 'anchor'; readonly itemId: string; readonly previousItemId: string | null }

export type Entry = Utterance | Reply | Anchor

const REMEMBERED = 64

export const emptyTranscript: Transcript = { pending: [], released: [], told: [] }

/** Puts an item that is not told in its place, or moves a known one there. */
export function placeItem(transcript: Transcript, itemId: string, previousItemId: string | null): Transcript {
  if (transcript.released.includes(itemId)) return transcript
  const known = transcript.pending.find((entry) => entry.itemId === itemId)
  if (known && previousItemId === null) return transcript
  return place(transcript, known ? { ...known, previousItemId } : { kind: 'anchor', itemId, previousItemId })
}

/** The caller said something; what, is yet to come. */
export function placeUtterance(
  transcript: Transcript,
  itemId: string,
  previousItemId: string | null,
  atMs: number,
): Transcript {
  if (find(transcript, itemId, 'utterance') || transcript.told.includes(itemId)) return transcript
  return place(transcript, { kind: 'utterance', itemId, previousItemId, atMs, text: null, settled: false })
}

/** The caller's words, or null when they could not be made out. */
export function settleUtterance(transcript: Transcript, itemId: string, text: string | null): Transcript {
  return update(transcript, itemId, (entry) =>
    entry.kind === 'utterance' && !entry.settled ? { ...entry, text, settled: true } : entry,
  )
}

/** Utterances whose words have not come by then are told without them: the rest must not wait for ever. */
export function settleOverdue(transcript: Transcript, beforeMs: number): Transcript {
  const overdue = (entry: Entry) => entry.kind === 'utterance' && !entry.settled && entry.atMs < beforeMs
  if (!transcript.pending.some(overdue)) return transcript
  return { ...transcript, pending: transcript.pending.map((e) => (overdue(e) ? { ...e, settled: true } : e)) }
}

/** Whether words of the caller are still to come. */
export function isOwedWords(transcript: Transcript): boolean {
  return transcript.pending.some((entry) => entry.kind === 'utterance' && !entry.settled)
}

/** Changes a reply; one that is new takes its place at the end. One that was told stays as it was told. */
export function changeReply(
  transcript: Transcript,
  itemId: string,
  responseId: string | null,
  change: (reply: Reply) => Reply,
): Transcript {
  if (transcript.told.includes(itemId)) return transcript
  const known = transcript.pending.find((entry) => entry.itemId === itemId)
  if (known?.kind === 'reply') {
    return update(transcript, itemId, (entry) => (entry.kind === 'reply' ? change(entry) : entry))
  }
  const reply: Reply = {
    kind: 'reply',
    itemId,
    previousItemId: known?.previousItemId ?? null,
    responseId,
    generatedText: '',
    generatedBytes: 0,
    generated: false,
    heard: null,
  }
  if (known) return update(transcript, itemId, () => change(reply))
  return place(transcript, change(reply))
}

/** Every reply for which `which` holds, changed. */
export function changeReplies(
  transcript: Transcript,
  which: (reply: Reply) => boolean,
  change: (reply: Reply) => Reply,
): Transcript {
  if (!transcript.pending.some((entry) => entry.kind === 'reply' && which(entry))) return transcript
  return {
    ...transcript,
    pending: transcript.pending.map((e) => (e.kind === 'reply' && which(e) ? change(e) : e)),
  }
}

/** A reply by its item, while it has not been released. */
export function findReply(transcript: Transcript, itemId: string): Reply | null {
  return find(transcript, itemId, 'reply')
}

/** Takes what can be told now from the head of the line. */
export function release(transcript: Transcript): {
  readonly transcript: Transcript
  readonly told: readonly (Utterance | Reply)[]
} {
  const waiting = transcript.pending.findIndex((entry) => !isSettled(entry))
  const ready = waiting < 0 ? transcript.pending : transcript.pending.slice(0, waiting)
  if (ready.length === 0) return { transcript, told: [] }
  const told = ready.filter((entry) => entry.kind !== 'anchor')
  return {
    transcript: {
      pending: transcript.pending.slice(ready.length),
      released: remember(transcript.released, ready),
      told: remember(transcript.told, told),
    },
    told,
  }
}

function remember(itemIds: readonly string[], entries: readonly Entry[]): readonly string[] {
  return [...itemIds, ...entries.map((entry) => entry.itemId)].slice(-REMEMBERED)
}

function isSettled(entry: Entry): boolean {
  if (entry.kind === 'utterance') return entry.settled
  return entry.kind === 'anchor' || (entry.generated && entry.heard !== null)
}

/**
 * Directly behind its predecessor; at the head when that one was told already, or the item itself was released
 * before anybody knew what it is; before the one that names it as predecessor; else at the end.
 */
function place(transcript: Transcript, entry: Entry): Transcript {
  const others = transcript.pending.filter((other) => other.itemId !== entry.itemId)
  const before = others.findIndex((other) => other.itemId === entry.previousItemId)
  const successor = others.findIndex((other) => other.previousItemId === entry.itemId)
  let index = others.length
  if (before >= 0) index = before + 1
  else if (successor >= 0) index = successor
  else if ([entry.itemId, entry.previousItemId].some((id) => id !== null && transcript.released.includes(id)))
    index = 0
  return { ...transcript, pending: others.toSpliced(index, 0, entry) }
}

function update(transcript: Transcript, itemId: string, change: (entry: Entry) => Entry): Transcript {
  const index = transcript.pending.findIndex((entry) => entry.itemId === itemId)
  const entry = transcript.pending[index]
  if (!entry) return transcript
  return { ...transcript, pending: transcript.pending.with(index, change(entry)) }
}

function find<K extends Entry['kind']>(
  transcript: Transcript,
  itemId: string,
  kind: K,
): Extract<Entry, { kind: K }> | null {
  const entry = transcript.pending.find((candidate) => candidate.itemId === itemId)
  return entry?.kind === kind ? (entry as Extract<Entry, { kind: K }>) : null
}
