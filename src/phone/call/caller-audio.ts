import type { Medium } from './medium.ts'

/** For a session that is not ready, or a model that does not keep up. */
const HELD_MS = 5_000
/** Limit of the model socket's buffer, above which frames are held. */
const SOCKET_BYTES = 64 * 1024
/** Shorter gaps in the provider's timestamps are not filled: the model copes with them. */
const GAP_MS = 100
/** The most silence that fills one gap. */
const MAX_FILL_MS = 1_000
/** How long a key silences the caller, so that the model hears no tone of the keys after it. */
const KEY_MS = 2_000
/** A speaking caller whose audio stops for this long counts as silent. */
const STARVED_MS = 750

type Sink = { sendAudio(base64: string): void; readonly bufferedBytes: number }

/**
 * Carries the caller's audio to the model, and keeps the newest five seconds while it cannot be sent. Fills
 * gaps with silence, because a model that receives nothing never notices that the caller stopped. Words have
 * neither gaps nor tones.
 */
export function createCallerAudio({ isAudio, codec }: Pick<Medium, 'isAudio' | 'codec'>) {
  const { bytesPerMs } = codec
  const mostHeldBytes = HELD_MS * bytesPerMs
  let sink: Sink | null = null
  const held: { payload: string; bytes: number }[] = []
  let heldBytes = 0
  let endMs: number | null = null
  let lastFrameMs = 0
  let starved = false
  let silentUntilMs = 0

  /** An empty socket takes any frame; otherwise a frame larger than the limit would wait forever. */
  const takes = (to: Sink, payload: string) =>
    to.bufferedBytes === 0 || to.bufferedBytes + payload.length <= SOCKET_BYTES
  const drain = () => {
    for (let next = held[0]; sink && next && takes(sink, next.payload); next = held[0]) {
      sink.sendAudio(next.payload)
      heldBytes -= next.bytes
      held.shift()
    }
  }
  const pass = (payload: string, bytes: number) => {
    held.push({ payload, bytes })
    heldBytes += bytes
    drain()
    while (heldBytes > mostHeldBytes && held.length > 1) heldBytes -= held.shift()?.bytes ?? 0
  }
  const passSilence = (bytes: number) => pass(Buffer.alloc(bytes, codec.silence).toString('base64'), bytes)
  const fill = (ms: number) => passSilence(Math.round(Math.min(ms, MAX_FILL_MS)) * bytesPerMs)

  return {
    frame(payload: string, timestampMs: number, nowMs: number): void {
      const bytes = Buffer.byteLength(payload, 'base64')
      if (isAudio && endMs !== null && timestampMs - endMs >= GAP_MS) fill(timestampMs - endMs)
      endMs = timestampMs + bytes / bytesPerMs
      lastFrameMs = nowMs
      starved = false
      if (timestampMs < silentUntilMs) passSilence(bytes)
      else pass(payload, bytes)
    },
    /** The caller pressed a key. */
    keyPressed(): void {
      if (isAudio) silentUntilMs = (endMs ?? 0) + KEY_MS
    },
    /** Call regularly: sends held frames, and ends the caller's turn if audio stopped in mid-speech. */
    tick(nowMs: number, callerSpeaks: boolean): void {
      drain()
      if (!isAudio || !callerSpeaks || starved || nowMs - lastFrameMs < STARVED_MS) return
      starved = true
      fill(MAX_FILL_MS)
      if (endMs !== null) endMs += MAX_FILL_MS
    },
    /** Sends all further audio to `sink`, held frames first. */
    sendTo(next: Sink | null): void {
      sink = next
      drain()
    },
  }
}
