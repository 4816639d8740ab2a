/**
 * Puts the items of a call in order. The caller's words often arrive after the reply to them, so each item is
 * placed by `previous_item_id` and filled in later. It is released once everything before it is settled, so
 * that facts are recorded in conversation order.
 */
export type Transcript = {
  readonly pending: readonly Entry[]
  /** Recently released items: a later item may still name one as its predecessor. */
  readonly released: readonly string[]
  /** Those that were recorded as an utterance or a reply. Each is recorded once. */
  readonly recorded: readonly string[]
}

export type Utterance = {
  readonly kind: 'utterance'
  readonly itemId: string
  readonly previousItemId: string | null
  readonly atMs: number
  /** Null until the transcription arrives, or if it failed. */
  readonly text: string | null
  readonly settled: boolean
}

export type Reply = {
  readonly kind: 'reply'
  readonly itemId: string
  readonly previousItemId: string | null
  readonly responseId: string | null
  readonly generatedText: string
  /** All generated audio, sent or dropped, to relate audio to text. */
  readonly generatedBytes: number
  /** Generation has ended. */
  readonly generated: boolean
  /** Null while it may still be playing. */
  readonly heard: { readonly heardMs: number; readonly sentMs: number; readonly interrupted: boolean } | null
}

/** Tool calls, tool results and seeded history. Not recorded, but other items follow them. */
type Anchor = { readonly kind: 'anchor'; readonly itemId: string; readonly previousItemId: string | null }

export type Entry = Utterance | Reply | Anchor

const REMEMBERED = 64

export const emptyTranscript: Transcript = { pending: [], released: [], recorded: [] }

/** Places an item as an anchor, or moves it if it is known. */
export function placeItem(transcript: Transcript, itemId: string, previousItemId: string | null): Transcript {
  if (transcript.released.includes(itemId)) return transcript
  const known = transcript.pending.find((entry) => entry.itemId === itemId)
  if (known && previousItemId === null) return transcript
  return place(transcript, known ? { ...known, previousItemId } : { kind: 'anchor', itemId, previousItemId })
}

/** Places an utterance whose words are not known yet. */
export function placeUtterance(
  transcript: Transcript,
  itemId: string,
  previousItemId: string | null,
  atMs: number,
): Transcript {
  if (find(transcript, itemId, 'utterance') || transcript.recorded.includes(itemId)) return transcript
  return place(transcript, { kind: 'utterance', itemId, previousItemId, atMs, text: null, settled: false })
}

/** Settles an utterance with its words, or null if the transcription failed. */
export function settleUtterance(transcript: Transcript, itemId: string, text: string | null): Transcript {
  return update(transcript, itemId, (entry) =>
    entry.kind === 'utterance' && !entry.settled ? { ...entry, text, settled: true } : entry,
  )
}

/** Settles utterances older than `beforeMs` without their words, so that later items do not wait forever. */
export function settleOverdue(transcript: Transcript, beforeMs: number): Transcript {
  const overdue = (entry: Entry) => entry.kind === 'utterance' && !entry.settled && entry.atMs < beforeMs
  if (!transcript.pending.some(overdue)) return transcript
  return { ...transcript, pending: transcript.pending.map((e) => (overdue(e) ? { ...e, settled: true } : e)) }
}

/** Whether the words of an utterance are still to come. */
export function isOwedWords(transcript: Transcript): boolean {
  return transcript.pending.some((entry) => entry.kind === 'utterance' && !entry.settled)
}

/** Changes a reply, adding it at the end if it is new. Ignored if the reply has been recorded. */
export function changeReply(
  transcript: Transcript,
  itemId: string,
  responseId: string | null,
  change: (reply: Reply) => Reply,
): Transcript {
  if (transcript.recorded.includes(itemId)) return transcript
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

/** Changes every reply that matches `which`. */
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

/** Settles everything: unheard replies and missing words will not come any more. */
export function settleAll(transcript: Transcript): Transcript {
  const replied = changeReplies(
    transcript,
    () => true,
    (reply) => ({
      ...reply,
      generated: true,
      heard: reply.heard ?? { heardMs: 0, sentMs: 0, interrupted: true },
    }),
  )
  return settleOverdue(replied, Number.POSITIVE_INFINITY)
}

/** Finds a reply that has not been released. */
export function findReply(transcript: Transcript, itemId: string): Reply | null {
  return find(transcript, itemId, 'reply')
}

/** Removes the settled entries at the head, and returns those to record. */
export function release(transcript: Transcript): {
  readonly transcript: Transcript
  readonly settled: readonly (Utterance | Reply)[]
} {
  const waiting = transcript.pending.findIndex((entry) => !isSettled(entry))
  const ready = waiting < 0 ? transcript.pending : transcript.pending.slice(0, waiting)
  if (ready.length === 0) return { transcript, settled: [] }
  const settled = ready.filter((entry) => entry.kind !== 'anchor')
  return {
    transcript: {
      pending: transcript.pending.slice(ready.length),
      released: remember(transcript.released, ready),
      recorded: remember(transcript.recorded, settled),
    },
    settled,
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
 * Places an entry after its predecessor, else before its successor, else at the head if it or its predecessor
 * was already released, else at the end.
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
