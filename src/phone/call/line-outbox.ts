import { muLaw } from './codec.ts'
import type { CallLine } from './ports.ts'

/** Limit of the line socket's buffer, above which audio waits here, where a clear can still drop it. */
const SOCKET_BYTES = 64 * 1024
/** The line counts as dead once more than this waits in total, in mu-law; of other audio, the same time. */
const LIMIT_BYTES = 1024 * 1024

type Waiting = { readonly payload: string; readonly mark: string }

/**
 * Carries audio to the caller in order and without loss. If more than 1 MiB waits (of PCM, six times as much), it
 * calls `overflowed` once and sends nothing more.
 */
export function createLineOutbox(line: CallLine, overflowed: () => void) {
  const limitBytes = (LIMIT_BYTES * line.medium.codec.bytesPerMs) / muLaw.bytesPerMs
  let waiting: Waiting[] = []
  let waitingBytes = 0
  let full = false

  const pump = () => {
    for (let next = waiting[0]; next && line.bufferedBytes <= SOCKET_BYTES; next = waiting[0]) {
      line.sendMedia(next.payload)
      line.sendMark(next.mark)
      waitingBytes -= next.payload.length
      waiting.shift()
    }
  }

  return {
    /** Sends waiting audio. Call whenever the line's buffer may have drained. */
    pump,
    media(payload: string, mark: string): void {
      if (full) return
      waiting.push({ payload, mark })
      waitingBytes += payload.length
      pump()
      if (waitingBytes + line.bufferedBytes <= limitBytes) return
      full = true
      waiting = []
      overflowed()
    },
    /** Drops all waiting audio and sends a clear. */
    clear(): void {
      waiting = []
      waitingBytes = 0
      if (!full) line.sendClear()
    },
  }
}
