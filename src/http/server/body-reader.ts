import type { IncomingMessage } from 'node:http'
import { msg } from '../../language/msg.ts'
import { Refusal } from './problem.ts'

const KIB = 1024
const MIB = 1024 * KIB
export const DEFAULT_BODY_BYTES = MIB
/** Memory that the bodies of all requests without a session share. */
const STRANGERS_BYTES = 16 * MIB
/** Bytes of each body that do not count, so that sign-ins and texts get through a flood of large bodies. */
const SMALL_BODY_BYTES = 16 * KIB
const RETRY_AFTER_SECONDS = 5

/**
 * Reads whole bodies. Bodies of requests without a session share 16 MiB of memory. Throws a refusal:
 * 413 for a body over `maxBytes`, 503 while that memory is used up. Rejects if a body is incomplete.
 */
export function createBodyReader() {
  let strangersBytes = 0
  return async (
    incoming: IncomingMessage,
    { maxBytes, isSignedIn }: { readonly maxBytes: number; readonly isSignedIn: boolean },
  ) => {
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes)
    // One growing buffer: a list of chunks could take a hundred times the memory, because a chunk may be one byte.
    const body = new ArrayBuffer(0, { maxByteLength: maxBytes })
    let counted = 0
    try {
      // The library drains what is left of a refused body, so that most clients get to read the refusal.
      for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
        const start = body.byteLength
        if (start + chunk.length > maxBytes) throw bodyTooLarge(maxBytes)
        body.resize(start + chunk.length)
        new Uint8Array(body, start).set(chunk)
        if (isSignedIn) continue
        const more = Math.max(0, body.byteLength - SMALL_BODY_BYTES) - counted
        counted += more
        strangersBytes += more
        if (strangersBytes > STRANGERS_BYTES) throw tooManyBodies()
      }
      return new Uint8Array(body)
    } finally {
      strangersBytes -= counted
    }
  }
}

export function bodyTooLarge(bytes: number): Refusal {
  return new Refusal(413, 'body_too_large', msg`The body is larger than ${bytes} bytes.`)
}

function tooManyBodies(): Refusal {
  return new Refusal(503, 'too_many_bodies', msg`Too many large requests are arriving. Try again shortly.`, {
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  })
}
