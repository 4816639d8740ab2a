import * as z from 'zod'
import type { Append } from './event.ts'
import type { Ledger } from './ledger.ts'
import type { LedgerReader } from './reader.ts'

const MARK = 'imported'

const markSchema = z.strictObject({
  source: z.enum(['import', 'restore']),
  headSeq: z.int().min(0),
  headHash: z.string().max(64),
})

/** Where an imported or restored ledger came from, and its head at that time. */
export type ImportMark = z.output<typeof markSchema>

/** Marks a ledger as imported; the next start appends the fact (`recordImport`). */
export function markImported(ledger: Ledger, mark: ImportMark): void {
  ledger.setMeta(MARK, JSON.stringify(mark))
}

/**
 * Appends `ledger.imported` once per import. Outbound work then waits until the owner releases it, so that an
 * old backup does not send texts twice. Call it before any reactor starts.
 */
export async function recordImport(ledger: LedgerReader, append: Append): Promise<void> {
  const stored = ledger.meta(MARK)
  if (stored === null) return
  const mark = markSchema.parse(JSON.parse(stored))
  await append([
    {
      type: 'ledger.imported',
      actor: 'service',
      channel: 'system',
      key: `ledger.imported:${mark.headHash}`,
      facts: mark,
    },
  ])
}
