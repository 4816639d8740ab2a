import type { CallLine } from './ports.ts'

/** What may wait in the line's socket before the rest waits here, where a clear can still reach it. */
const SOCKET_BYTES = 64 * 1024
/** More than this waiting in all: the line takes nothing any more. */
const LIMIT_BYTES = 1024 * 1024

type Waiting = { readonly payload: string; readonly mark: string }

export type LineOutbox = {
  media(payload: string, mark: string): void
  /** Goes out before everything that waits, which it throws away. */
  clear(): void
  /** Moves on what waits; called whenever the line may have taken something. */
  pump(): void
}

/**
 * The way of audio to the caller. Nothing is dropped in the middle of a reply: what the line does not take waits
 * in order, and when that grows beyond a mebibyte `overflowed` is called, once; then nothing more goes out.
 */
export function createLineOutbox(line: CallLine, overflowed: () => void): LineOutbox {
  let waiting: Waiting[] = []
  let waitingBytes = 0
  let full = false

  const send = ({ payload, mark }: Waiting) => {
    line.sendMedia(payload)
    line.sendMark(mark)
  }
  const pump = () => {
    let moved = 0
    for (const item of waiting) {
      if (full || line.bufferedBytes > SOCKET_BYTES) break
      send(item)
      waitingBytes -= item.payload.length
      moved += 1
    }
    if (moved > 0) waiting = waiting.slice(moved)
  }

  return {
    pump,
    media(payload, mark) {
      if (full) return
      pump()
      if (waiting.length === 0 && line.bufferedBytes <= SOCKET_BYTES) {
        send({ payload, mark })
        return
      }
      waiting.push({ payload, mark })
      waitingBytes += payload.length
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
