import Database from 'better-sqlite3'
import type * as z from 'zod'
import { type EventRow, GENESIS_HASH, parseRow } from './codec.ts'
import { LedgerDamaged } from './errors.ts'
import { type ExportHeader, exportedRowSchema, exportHeaderSchema } from './export.ts'
import type { Ledger } from './ledger.ts'
import type { Head } from './reader.ts'
import { verifyLink } from './verify.ts'

/** The input is not a complete, valid export. The message names the line but never quotes it. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused'
}

const ROWS_A_COMMIT = 5000
/** Bounds the memory that uncommitted rows use. */
const CHARS_A_COMMIT = 16 * 1024 * 1024

/**
 * Writes an export into the empty ledger that `open` creates under the export's id. Each line is parsed and
 * its link in the chain verified before it is written; the final head must match the header. Throws
 * ImportRefused; the caller then discards what `open` created.
 */
export async function importLines(
  lines: AsyncIterable<string>,
  open: (ledgerId: string) => Ledger,
): Promise<ExportHeader> {
  let header: ExportHeader | undefined
  let ledger: Ledger | undefined
  let head: Head = { seq: 0, hash: GENESIS_HASH }
  let rows: EventRow[] = []
  let chars = 0
  let line = 0
  for await (const text of lines) {
    line += 1
    if (!header || !ledger) {
      header = parseLine(exportHeaderSchema, text, line)
      ledger = open(header.ledgerId)
      continue
    }
    const row = parseLine(exportedRowSchema, text, line)
    if (row.seq > header.events)
      throw new ImportRefused(`line ${line}: more events than the header's ${header.events}`)
    head = checked(line, () => {
      const next = verifyLink(head, row)
      if (parseRow(row).derivedFrom.some((source) => source >= row.seq))
        throw new LedgerDamaged(`event ${row.seq} derives from a later event or itself`, { seq: row.seq })
      return next
    })
    rows.push(row)
    chars += text.length
    if (rows.length < ROWS_A_COMMIT && chars < CHARS_A_COMMIT) continue
    write(ledger, rows)
    rows = []
    chars = 0
  }
  if (!header || !ledger) throw new ImportRefused('the input is empty')
  write(ledger, rows)
  if (head.seq !== header.events)
    throw new ImportRefused(`the input ends after event ${head.seq} of ${header.events}`)
  if (head.hash !== header.headHash) throw new ImportRefused('the last event does not match the header')
  return header
}

function parseLine<T>(schema: z.ZodType<T>, text: string, line: number): T {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new ImportRefused(`line ${line} is not JSON`)
    throw error
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ImportRefused(
    `line ${line} has an invalid format: ${issue?.path.join('.') ?? ''} ${issue?.message}`,
  )
}

function checked<T>(line: number, check: () => T): T {
  try {
    return check()
  } catch (cause) {
    if (cause instanceof LedgerDamaged) throw new ImportRefused(`line ${line}: ${cause.message}`, { cause })
    throw cause
  }
}

function write(ledger: Ledger, rows: readonly EventRow[]): void {
  try {
    ledger.importRows(rows)
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError && cause.code.startsWith('SQLITE_CONSTRAINT'))) throw cause
    throw new ImportRefused(`events ${rows[0]?.seq} to ${rows.at(-1)?.seq}: ${cause.message}`, { cause })
  }
}
