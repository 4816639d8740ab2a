import type { CallLine } from './ports.ts'

/** Audio waits here, where a clear can still reach it, while more than this waits in the line's socket. */
const SOCKET_BYTES = 64 * 1024
/** The line counts as dead when more than this waits in all. */
const LIMIT_BYTES = 1024 * 1024

type Waiting = { readonly payload: string; readonly mark: string }

export type LineOutbox = {
  media(payload: string, mark: string): void
  /** Sends a clear at once and drops all waiting audio. */
  clear(): void
  /** Sends waiting audio; called whenever the line may have taken some. */
  pump(): void
}

/**
 * Carries audio to the caller and drops none in the middle of a reply: what the line does not take waits in order.
 * Beyond a mebibyte it calls `overflowed`, once, and sends nothing more.
 */
export function createLineOutbox(line: CallLine, overflowed: () => void): LineOutbox {
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
    pump,
    media(payload, mark) {
      if (full) return
      waiting.push({ payload, mark })
      waitingBytes += payload.length
      pump()
      if (waitingBytes + line.bufferedBytes <= LIMIT_BYTES) return
      full = true
      waiting = []
      overflowed()
    },
    clear() {
      waiting = []
      waitingBytes = 0
      if (!full) line.sendClear()
    },
  }
}
