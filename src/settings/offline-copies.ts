import * as z from 'zod'
import { DAY_MS } from '../lib/time.ts'
import type { Documents } from './factor-store.ts'

const DOCUMENT = 'offline-copies'
/** After this long without contact, a device removes its copy. */
const KEPT_MS = 7 * DAY_MS
const MAX_COPIES = 50

const documentSchema = z.array(z.object({ sessionId: z.string(), device: z.string(), renewedAtMs: z.int() }))

export type OfflineCopies = ReturnType<typeof createOfflineCopies>

/**
 * Devices that keep an offline copy of what they have shown. A copy outlives its session, so it counts until the device
 * reports that it is gone, or must have removed it.
 */
export function createOfflineCopies({
  documents,
  nowMs,
}: {
  readonly documents: Documents
  readonly nowMs: () => number
}) {
  const read = () =>
    documentSchema
      .parse(JSON.parse(documents.document(DOCUMENT) ?? '[]'))
      .filter(({ renewedAtMs }) => nowMs() - renewedAtMs <= KEPT_MS)
  const write = (copies: z.output<typeof documentSchema>) =>
    documents.writeDocument(DOCUMENT, JSON.stringify(copies.slice(-MAX_COPIES)))
  const others = (sessionId: string) => read().filter((each) => each.sessionId !== sessionId)

  return {
    /** A device has just replaced its copy. */
    renewed: (sessionId: string, device: string) =>
      write([...others(sessionId), { sessionId, device, renewedAtMs: nowMs() }]),
    removed: (sessionId: string) => write(others(sessionId)),
    /** Copies from before a time (ISO 8601), and until when they can be read at most. */
    from: (before: string) =>
      read()
        .filter(({ renewedAtMs }) => renewedAtMs <= Date.parse(before))
        .map(({ device, renewedAtMs }) => ({ device, until: new Date(renewedAtMs + KEPT_MS).toISOString() })),
  }
}
