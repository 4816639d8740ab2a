import type { Database } from 'better-sqlite3'
import * as z from 'zod'
import type { EventRow } from './codec.ts'
import { actorSchema, channelSchema } from './event.ts'
import { createReader } from './reader.ts'
import { verifiedRows } from './verify.ts'

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/)
const text = z.string().nullable().default(null)
const seq = z.int().min(1)

export const exportHeaderSchema = z.strictObject({
  format: z.literal('delegate-ledger'),
  version: z.literal(1),
  events: z.int().min(0),
  headHash: hashSchema,
  ledgerId: z.string().min(1).max(200),
})
export type ExportHeader = z.output<typeof exportHeaderSchema>

/**
 * Each line after the header: an event as stored. Facts and body are the exact text that was hashed. Null
 * fields are omitted, so an erased event has neither body nor salt.
 */
export const exportedRowSchema: z.ZodType<EventRow> = z.strictObject({
  seq,
  id: z.string().min(1),
  key: text,
  type: z.string().min(1),
  version: z.int().min(1),
  at: z.iso.datetime(),
  conversationId: text,
  spanId: text,
  turnId: text,
  causedBy: seq.nullable().default(null),
  derivedFrom: text,
  channel: channelSchema.nullable().default(null),
  actor: actorSchema,
  facts: z.string(),
  body: text,
  salt: text,
  bodyDigest: text,
  hash: hashSchema,
})

/**
 * Exports a ledger as JSON Lines and verifies it on the way. One read transaction gives a consistent
 * snapshot; it also blocks truncation of the write-ahead log, so erasures wait for it. Throws LedgerDamaged.
 */
export function* exportLines(db: Database): Generator<string> {
  db.exec('BEGIN')
  try {
    const reader = createReader(db)
    const head = reader.head()
    const header: ExportHeader = {
      format: 'delegate-ledger',
      version: 1,
      events: head.seq,
      headHash: head.hash,
      ledgerId: reader.id(),
    }
    yield `${JSON.stringify(header)}\n`
    for (const rows of verifiedRows(reader, 0))
      yield rows
        .map((row) => `${JSON.stringify(row, (_name, value: unknown) => value ?? undefined)}\n`)
        .join('')
  } finally {
    db.exec('ROLLBACK')
  }
}
