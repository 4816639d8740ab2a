import type { Medium } from './medium.ts'
import type { Chunk } from './rechunk.ts'

/**
 * Which audio was sent to the provider, and which it reported as played. Audio is generated and queued faster
 * than it is spoken, so only a returned mark proves that it was heard. A cut forgets all pending marks,
 * because `clear` returns them too.
 */
export type Playback = {
  readonly medium: Medium
  /** Marks are numbered across the whole call, so a mark from before a cut cannot match a later one. */
  readonly nextMark: number
  /** Audio still being sent or played, oldest first. */
  readonly segments: readonly Segment[]
  /** Marks that have not returned, oldest first, numbered without gaps. */
  readonly marks: readonly Mark[]
}

/** The audio of one item, or of a phrase (`responseId` null). */
export type Segment = {
  readonly key: string
  readonly itemId: string
  readonly responseId: string | null
  readonly contentIndex: number
  readonly sentBytes: number
  readonly playedBytes: number
  /** An incomplete frame, kept for the next delta. */
  readonly carry: Uint8Array
  /** No more audio will be added. */
  readonly complete: boolean
}

type Mark = { readonly number: number; readonly segmentKey: string; readonly endBytes: number }

/** A chunk of audio and the mark that follows it. */
export type Outgoing = { readonly payload: string; readonly mark: string }

/** How much of a segment was heard when it ended. */
export type Outcome = { readonly segment: Segment; readonly heardMs: number; readonly sentMs: number }

export type SegmentName = Pick<Segment, 'itemId' | 'responseId' | 'contentIndex'> & { readonly key: string }

const NO_CARRY: Uint8Array = new Uint8Array(0)

export const emptyPlayback = (medium: Medium): Playback => ({ medium, nextMark: 0, segments: [], marks: [] })

/** Adds audio (base64 mu-law) to a segment, creating it if needed. Ignored if the segment is complete. */
export function enqueue(
  playback: Playback,
  name: SegmentName,
  audio: string,
): { readonly playback: Playback; readonly outgoing: readonly Outgoing[] } {
  const index = playback.segments.findIndex((segment) => segment.key === name.key)
  const segment = playback.segments[index] ?? {
    ...name,
    sentBytes: 0,
    playedBytes: 0,
    carry: NO_CARRY,
    complete: false,
  }
  if (segment.complete) return { playback, outgoing: [] }
  const { chunks, carry } = playback.medium.cut(segment.carry, audio)
  return send(playback, { ...segment, carry }, index, chunks)
}

/** Marks a segment as complete and sends its remainder. It is `finished` if all of it has been played. */
export function complete(
  playback: Playback,
  key: string,
): {
  readonly playback: Playback
  readonly outgoing: readonly Outgoing[]
  readonly finished: readonly Outcome[]
} {
  const index = playback.segments.findIndex((segment) => segment.key === key)
  const segment = playback.segments[index]
  if (!segment || segment.complete) return { playback, outgoing: [], finished: [] }
  const sent = send(
    playback,
    { ...segment, carry: NO_CARRY, complete: true },
    index,
    playback.medium.flush(segment.carry),
  )
  return { ...sweep(sent.playback), outgoing: sent.outgoing }
}

/**
 * A mark returned: everything up to it was played. Ignores unknown, repeated and outdated marks. Returns the
 * segments that are now fully heard.
 */
export function acknowledge(
  playback: Playback,
  name: string,
): { readonly playback: Playback; readonly finished: readonly Outcome[] } {
  const first = playback.marks[0]
  const number = /^\d{1,15}$/.test(name) ? Number(name) : Number.NaN
  if (!first || !(number >= first.number && number < playback.nextMark)) {
    return { playback, finished: [] }
  }
  // Audio plays in order, so a mark implies all earlier ones.
  const returned = playback.marks.slice(0, number - first.number + 1)
  const marks = playback.marks.slice(number - first.number + 1)
  const segments = playback.segments.map((segment) => {
    const last = returned.findLast((mark) => mark.segmentKey === segment.key)
    return last ? { ...segment, playedBytes: last.endBytes } : segment
  })
  return sweep({ ...playback, segments, marks })
}

/** Stops everything and forgets all marks. Returns how much of each segment was heard, oldest first. */
export function cut(playback: Playback): {
  readonly playback: Playback
  readonly outcomes: readonly Outcome[]
} {
  const outcomes = playback.segments.map((segment, index) => ({
    segment,
    heardMs: index === 0 ? heardMs(playback, segment) : msOf(playback, segment.playedBytes),
    sentMs: msOf(playback, segment.sentBytes),
  }))
  return {
    playback: { ...playback, segments: [], marks: [] },
    outcomes,
  }
}

function msOf({ medium }: Playback, bytes: number): number {
  return Math.floor(bytes * medium.msPerByte)
}

/** Counts by marks, not by the clock: the last mark plus the medium's slack, but never past the next mark. */
function heardMs(playback: Playback, segment: Segment): number {
  const { msPerByte, slackMs } = playback.medium
  const next = playback.marks.find((mark) => mark.segmentKey === segment.key)
  if (!next) return msOf(playback, segment.playedBytes)
  return Math.floor(Math.min(segment.playedBytes * msPerByte + slackMs, next.endBytes * msPerByte))
}

function send(playback: Playback, segment: Segment, index: number, chunks: readonly Chunk[]) {
  let sentBytes = segment.sentBytes
  let nextMark = playback.nextMark
  const outgoing: Outgoing[] = []
  const added: Mark[] = []
  for (const chunk of chunks) {
    sentBytes += chunk.bytes
    outgoing.push({ payload: chunk.payload, mark: String(nextMark) })
    added.push({ number: nextMark, segmentKey: segment.key, endBytes: sentBytes })
    nextMark += 1
  }
  const updated = { ...segment, sentBytes }
  const segments = index < 0 ? [...playback.segments, updated] : playback.segments.with(index, updated)
  return { playback: { ...playback, nextMark, segments, marks: [...playback.marks, ...added] }, outgoing }
}

/** Removes the segments that were played completely. */
function sweep(playback: Playback): { readonly playback: Playback; readonly finished: readonly Outcome[] } {
  const done = playback.segments.filter((s) => s.complete && s.playedBytes === s.sentBytes)
  if (done.length === 0) return { playback, finished: [] }
  const segments = playback.segments.filter((segment) => !done.includes(segment))
  const finished = done.map((segment) => {
    const sentMs = msOf(playback, segment.sentBytes)
    return { segment, heardMs: sentMs, sentMs }
  })
  return { playback: { ...playback, segments }, finished }
}
