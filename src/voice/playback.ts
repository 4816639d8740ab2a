import { BYTES_PER_MS } from './mu-law.ts'
import { type Chunk, flushCarry, rechunk } from './rechunk.ts'

/**
 * What the provider was sent and what it reported as played. Outbound audio is queued at the provider and
 * generated far faster than it is spoken, so neither "sent" nor "generated" means "heard": only a returned
 * mark does, and only one that was not forgotten by a cut, because `clear` returns all pending marks too.
 */
export type Playback = {
  /** Marks are numbered through the whole call, so one from before a cut is never taken for a later one. */
  readonly nextMark: number
  /** What is still being sent or played, oldest first. */
  readonly segments: readonly Segment[]
  /** Marks that have not come back, oldest first; their numbers run without a gap. */
  readonly marks: readonly Mark[]
}

/** The audio of one item, or a phrase of our own (`itemId` null). */
export type Segment = {
  readonly key: string
  readonly itemId: string | null
  readonly responseId: string | null
  readonly contentIndex: number
  readonly sentBytes: number
  readonly playedBytes: number
  /** Less than a frame, waiting for more. */
  readonly carry: Uint8Array
  /** Nothing more will be added. */
  readonly complete: boolean
}

type Mark = { readonly number: number; readonly segmentKey: string; readonly endBytes: number }

/** A piece of audio and the mark that follows it. */
export type Outgoing = { readonly payload: string; readonly mark: string }

/** What was heard of a segment when it ended. */
export type Outcome = { readonly segment: Segment; readonly heardMs: number; readonly sentMs: number }

export type SegmentName = Pick<Segment, 'itemId' | 'responseId' | 'contentIndex'> & { readonly key: string }

/**
 * How far past the last returned mark the caller is assumed to have heard: the mark takes its time to come
 * back. The value is that of the field's reference bridge; half of a chunk, so it errs evenly.
 */
export const HEARD_SLACK_MS = 50

const NO_CARRY: Uint8Array = new Uint8Array(0)

export const emptyPlayback: Playback = { nextMark: 0, segments: [], marks: [] }

/**
 * Adds audio (base64 mu-law) to a segment, which is begun where there is none of that key. A complete one takes
 * no more.
 */
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
  const { chunks, carry } = rechunk(segment.carry, audio)
  return send(playback, { ...segment, carry }, index, chunks)
}

/** Nothing more follows in this segment: its rest is sent. Finished at once where all of it was played. */
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
    flushCarry(segment.carry),
  )
  return { ...sweep(sent.playback), outgoing: sent.outgoing }
}

/**
 * A mark came back: everything up to it was played. Unknown names, repeated ones and those from
 * before a cut change nothing. Returns the segments that were thereby heard to their end.
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
  // Audio plays in order, so a mark that overtakes an earlier one proves that one as well.
  const returned = playback.marks.slice(0, number - first.number + 1)
  const marks = playback.marks.slice(number - first.number + 1)
  const segments = playback.segments.map((segment) => {
    const last = returned.findLast((mark) => mark.segmentKey === segment.key)
    return last ? { ...segment, playedBytes: last.endBytes } : segment
  })
  return sweep({ ...playback, segments, marks })
}

/** Stops everything and forgets its marks. Returns what was heard of each segment that it cut, the oldest first. */
export function cut(playback: Playback): {
  readonly playback: Playback
  readonly outcomes: readonly Outcome[]
} {
  const outcomes = playback.segments.map((segment, index) => ({
    segment,
    heardMs: index === 0 ? heardMs(playback, segment) : playedMs(segment),
    sentMs: sentMs(segment),
  }))
  return {
    playback: { ...emptyPlayback, nextMark: playback.nextMark },
    outcomes,
  }
}

/** Whole milliseconds of a segment that were sent. */
function sentMs(segment: Segment): number {
  return Math.floor(segment.sentBytes / BYTES_PER_MS)
}

function playedMs(segment: Segment): number {
  return Math.floor(segment.playedBytes / BYTES_PER_MS)
}

/** Only marks count, never the clock; between two marks at most the slack, and never past the next mark. */
function heardMs(playback: Playback, segment: Segment): number {
  const next = playback.marks.find((mark) => mark.segmentKey === segment.key)
  if (!next) return playedMs(segment)
  const reached = Math.min(segment.playedBytes / BYTES_PER_MS + HEARD_SLACK_MS, next.endBytes / BYTES_PER_MS)
  return Math.floor(reached)
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

/** Removes the segments of which every byte was sent and played. */
function sweep(playback: Playback): { readonly playback: Playback; readonly finished: readonly Outcome[] } {
  const done = playback.segments.filter((s) => s.complete && s.playedBytes === s.sentBytes)
  if (done.length === 0) return { playback, finished: [] }
  const segments = playback.segments.filter((segment) => !done.includes(segment))
  const finished = done.map((segment) => ({ segment, heardMs: sentMs(segment), sentMs: sentMs(segment) }))
  return { playback: { ...playback, segments }, finished }
}
