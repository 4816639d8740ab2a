import type { LedgerReader } from '../../../ledger/reader.ts'
import type { Remote } from './remote.ts'
import type { State } from './state.ts'

const PAGE_ROWS = 1_000
const WRITE_MS = 30_000

/** Sends the rows after `seq`, and what has changed beside the ledger. Resolves to the head of PostgreSQL. */
export async function push(
  parts: {
    readonly remote: Pick<Remote, 'append'>
    readonly ledger: Pick<LedgerReader, 'rowsAfter' | 'hashAt'>
    readonly state: State
    readonly epoch: number
  },
  seq: number,
): Promise<number> {
  const { remote, ledger, state, epoch } = parts
  let sentSeq = seq
  for (;;) {
    const rows = ledger.rowsAfter(sentSeq, PAGE_ROWS)
    const changes = [state.changedDatabase(), state.changedFiles()]
    const files = changes.flatMap((each) => each.files)
    if (rows.length > 0 || files.length > 0) {
      const from = { seq: sentSeq, hash: ledger.hashAt(sentSeq) ?? '' }
      await remote.append(epoch, from, rows, files, WRITE_MS)
      sentSeq = rows.at(-1)?.seq ?? sentSeq
      for (const each of changes) each.sent()
    }
    if (rows.length < PAGE_ROWS) return sentSeq
  }
}
