import { BYTES_PER_MS, SILENCE_BYTE } from './mu-law.ts'

/** Five seconds of audio: what is kept for a session that is not ready, or a model that does not keep up. */
const HELD_BYTES = 5_000 * BYTES_PER_MS
/** What may wait in the model's socket before frames are held back. */
const SOCKET_BYTES = 64 * 1024
/** From here a hole in the provider's timestamps is filled: less than that the ear of the model forgives. */
const GAP_MS = 100
/** However long the hole: more silence than this tells nobody anything. */
const MAX_FILL_MS = 1_000
/** A caller who speaks and of whom nothing more comes for so long is taken to have stopped. */
const STARVED_MS = 750

type Sink = { sendAudio(base64: string): void; readonly bufferedBytes: number }

export type CallerAudio = {
  /** A frame, passed on untouched. */
  frame(payload: string, timestampMs: number, nowMs: number): void
  /** Called regularly: moves held frames on, and ends a turn that the line cut off. */
  tick(nowMs: number, callerSpeaks: boolean): void
  /** From here on to this session, what was held back first. */
  sendTo(sink: Sink | null): void
}

/**
 * The way of the caller's audio to the model. Bounded: while there is no session, or its socket is full, the
 * newest five seconds are kept and the oldest dropped. Holes are filled with silence, because a model that
 * hears nothing at all never notices that the caller stopped.
 */
export function createCallerAudio(): CallerAudio {
  let sink: Sink | null = null
  let held: { payload: string; bytes: number }[] = []
  let heldBytes = 0
  let endMs: number | null = null
  let lastFrameMs = 0
  let starved = false

  /** An empty socket takes anything, else a frame of the largest size would wait for ever. */
  const takes = (to: Sink, payload: string) =>
    to.bufferedBytes === 0 || to.bufferedBytes + payload.length <= SOCKET_BYTES
  const drain = () => {
    if (sink === null || held.length === 0) return
    let moved = 0
    for (const { payload, bytes } of held) {
      if (!takes(sink, payload)) break
      sink.sendAudio(payload)
      heldBytes -= bytes
      moved += 1
    }
    held = held.slice(moved)
  }
  const pass = (payload: string, bytes: number) => {
    drain()
    if (sink !== null && held.length === 0 && takes(sink, payload)) {
      sink.sendAudio(payload)
      return
    }
    held.push({ payload, bytes })
    heldBytes += bytes
    while (heldBytes > HELD_BYTES && held.length > 1) heldBytes -= held.shift()?.bytes ?? 0
  }
  const fill = (ms: number) => {
    const bytes = Math.round(Math.min(ms, MAX_FILL_MS) * BYTES_PER_MS)
    pass(Buffer.alloc(bytes, SILENCE_BYTE).toString('base64'), bytes)
  }

  return {
    frame(payload, timestampMs, nowMs) {
      const bytes = Buffer.byteLength(payload, 'base64')
      if (endMs !== null && timestampMs - endMs >= GAP_MS) fill(timestampMs - endMs)
      endMs = timestampMs + bytes / BYTES_PER_MS
      lastFrameMs = nowMs
      starved = false
      pass(payload, bytes)
    },
    tick(nowMs, callerSpeaks) {
      drain()
      if (!callerSpeaks || starved || nowMs - lastFrameMs < STARVED_MS) return
      starved = true
      fill(MAX_FILL_MS)
      if (endMs !== null) endMs += MAX_FILL_MS
    },
    sendTo(next) {
      sink = next
      drain()
    },
  }
}
