import type { LedgerReader } from '../../../ledger/reader.ts'
import type { Remote } from './remote.ts'
import type { State } from './state.ts'

const PAGE_ROWS = 1_000
const WRITE_MS = 30_000

type Parts = {
  readonly remote: Pick<Remote, 'append'>
  readonly ledger: Pick<LedgerReader, 'rowsAfter' | 'hashAt'>
  readonly epoch: number
}

/** Sends the rows after `seq`. Resolves to the head of PostgreSQL. */
export async function pushRows({ remote, ledger, epoch }: Parts, seq: number): Promise<number> {
  let sentSeq = seq
  for (;;) {
    const rows = ledger.rowsAfter(sentSeq, PAGE_ROWS)
    const last = rows.at(-1)
    if (!last) return sentSeq
    await remote.append(epoch, { seq: sentSeq, hash: ledger.hashAt(sentSeq) ?? '' }, rows, [], WRITE_MS)
    sentSeq = last.seq
  }
}

/** Sends what has changed beside the ledger. `seq` is the head of PostgreSQL. */
export async function pushState({ remote, ledger, epoch }: Parts, state: State, seq: number): Promise<void> {
  const changes = [state.changedDatabase(), state.changedFiles()]
  const files = changes.flatMap((each) => each.files)
  if (files.length === 0) return
  await remote.append(epoch, { seq, hash: ledger.hashAt(seq) ?? '' }, [], files, WRITE_MS)
  for (const each of changes) each.sent()
}
