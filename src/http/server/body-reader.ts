import type { IncomingMessage } from 'node:http'
import { Refusal } from './problem.ts'

const KIB = 1024
const MIB = 1024 * KIB
export const DEFAULT_BODY_BYTES = MIB
/** Memory that the bodies of all requests without a session share. */
const STRANGERS_BYTES = 16 * MIB
/** Bytes of each body that do not count, so that sign-ins and texts get through a flood of large bodies. */
const SMALL_BODY_BYTES = 16 * KIB
const FIRST_BYTES = 4 * KIB
const RETRY_AFTER_SECONDS = 5
/**
 * Oversized bodies up to this size are read and dropped. Most clients send everything before they read the
 * response, and would miss a refusal that closes the connection.
 */
const MAX_DISCARDED_BYTES = 64 * MIB
/** Discarding stops after this long without data. */
const DISCARDING_PAUSE_MS = 500
/** Discarding costs garbage collection, so few requests without a session may do it at once. */
const MAX_STRANGERS_DISCARDED = 4

export type ReadBody = (
  incoming: IncomingMessage,
  options: { readonly maxBytes: number; readonly isSignedIn: boolean },
) => Promise<string>

/**
 * Reads whole bodies as text. Bodies of requests without a session share 16 MiB of memory. Throws a refusal:
 * 413 for a body over `maxBytes`, 503 while that memory is used up. Rejects if a body is incomplete.
 */
export function createBodyReader(): ReadBody {
  let strangersBytes = 0
  let strangersDiscarded = 0

  async function drop(incoming: IncomingMessage, isSignedIn: boolean): Promise<void> {
    if (isSignedIn) return discard(incoming)
    if (strangersDiscarded >= MAX_STRANGERS_DISCARDED) return
    strangersDiscarded += 1
    await discard(incoming)
    strangersDiscarded -= 1
  }

  return async (incoming, { maxBytes, isSignedIn }) => {
    const announced = Number(incoming.headers['content-length'] ?? 0)
    if (announced > maxBytes) {
      if (announced <= MAX_DISCARDED_BYTES) await drop(incoming, isSignedIn)
      throw bodyTooLarge(maxBytes)
    }
    let reserved = 0
    function reserve(capacity: number): boolean {
      const wanted = isSignedIn ? 0 : Math.max(0, capacity - SMALL_BODY_BYTES)
      const total = strangersBytes + wanted - reserved
      if (total > STRANGERS_BYTES) return false
      strangersBytes = total
      reserved = wanted
      return true
    }
    try {
      return await collect(incoming, maxBytes, reserve)
    } catch (error) {
      if (error instanceof Refusal && error.status === 413) await drop(incoming, isSignedIn)
      throw error
    } finally {
      strangersBytes -= reserved
    }
  }
}

/**
 * Copies the body into one growing buffer. A list of chunks could take a hundred times the memory, because a
 * chunk may be one byte long. `reserve` returns whether a buffer of that size is allowed.
 */
function collect(
  incoming: IncomingMessage,
  maxBytes: number,
  reserve: (capacity: number) => boolean,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let body = Buffer.alloc(0)
    let bytes = 0

    function refuse(refusal: Refusal) {
      incoming.off('data', onData).off('end', onEnd).pause()
      body = Buffer.alloc(0)
      reject(refusal)
    }
    function onData(chunk: Buffer) {
      const needed = bytes + chunk.length
      if (needed > maxBytes) return refuse(bodyTooLarge(maxBytes))
      if (needed > body.length) {
        const capacity = Math.min(maxBytes, Math.max(FIRST_BYTES, needed, 2 * body.length))
        if (!reserve(capacity)) return refuse(tooManyBodies())
        const larger = Buffer.allocUnsafeSlow(capacity)
        body.copy(larger, 0, 0, bytes)
        body = larger
      }
      chunk.copy(body, bytes)
      bytes = needed
    }
    function onEnd() {
      resolve(new TextDecoder().decode(body.subarray(0, bytes)))
    }
    incoming.on('data', onData).once('end', onEnd).once('error', reject)
    // No event follows if the client disconnected before these listeners were added.
    if (incoming.destroyed) reject(new Error('the client disconnected'))
  })
}

/** Reads and drops the rest of an oversized body, within limits. */
function discard(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    const timer = setTimeout(end, DISCARDING_PAUSE_MS)
    function onData(chunk: Buffer) {
      bytes += chunk.length
      if (bytes > MAX_DISCARDED_BYTES) return end()
      timer.refresh()
    }
    function end() {
      clearTimeout(timer)
      incoming.off('data', onData).off('close', end).off('end', end)
      incoming.pause()
      resolve()
    }
    incoming.on('data', onData).once('end', end).once('close', end)
    incoming.resume()
  })
}

export function bodyTooLarge(bytes: number): Refusal {
  return new Refusal(413, 'body_too_large', `The body is larger than ${bytes} bytes.`, {
    headers: { connection: 'close' },
  })
}

function tooManyBodies(): Refusal {
  return new Refusal(503, 'too_many_bodies', 'Too many large requests are arriving. Try again shortly.', {
    headers: { connection: 'close', 'retry-after': String(RETRY_AFTER_SECONDS) },
  })
}
