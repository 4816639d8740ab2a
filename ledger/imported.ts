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

/** That a ledger was not written where it lies, and how far it had come when it got there. */
export type ImportMark = z.output<typeof markSchema>

/** Marks a ledger as brought here: the next start of the service makes that a fact (`recordImport`). */
export function markImported(ledger: Ledger, mark: ImportMark): void {
  ledger.setMeta(MARK, JSON.stringify(mark))
}

/**
 * Appends the fact that this ledger was imported or restored, once an import. Until the owner releases it, outbound
 * work then waits: an old backup must not text anybody twice. Before any reactor starts.
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
