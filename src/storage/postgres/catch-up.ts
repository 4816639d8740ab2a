import type { EventRow } from '../../../ledger/codec.ts'
import type { Head, LedgerReader } from '../../../ledger/reader.ts'
import { verifyLink } from '../../../ledger/verify.ts'
import { EngineRefused } from './options.ts'
import type { Remote } from './remote.ts'

const PAGE_ROWS = 2_000

/** What catching up needs of the local ledger. */
export type Local = {
  readonly ledger: Pick<LedgerReader, 'head' | 'hashAt'>
  apply(rows: readonly EventRow[]): void | Promise<void>
}

/**
 * Appends the rows that PostgreSQL has and this ledger lacks, each verified against its predecessor. Throws
 * LedgerDamaged if one does not follow.
 */
export async function catchUp(remote: Remote, { ledger, apply }: Local): Promise<void> {
  for (;;) {
    let head = ledger.head()
    const rows = await remote.rowsAfter(head.seq, PAGE_ROWS)
    if (rows.length === 0) return
    for (const row of rows) head = verifyLink(head, row)
    await apply(rows)
    if (rows.length < PAGE_ROWS) return
  }
}

/** How the local ledger and that in PostgreSQL relate. `forked` has the first event in which they differ. */
export type Relation =
  | { readonly kind: 'same' | 'behind' | 'ahead'; readonly remote: Head }
  | { readonly kind: 'forked'; readonly seq: number }

/** Compares by hashes: equal hashes mean equal histories. */
export async function relate(
  remote: Remote,
  local: Pick<LedgerReader, 'head' | 'hashAt'>,
): Promise<Relation> {
  const found = await remote.ledger()
  if (!found)
    throw new EngineRefused(`This database has no ledger ${remote.ledgerId}. Run npm run engine:init.`)
  const head = { seq: found.headSeq, hash: found.headHash }
  const mine = local.head()
  const shared = Math.min(mine.seq, head.seq)
  const isEqual = async (seq: number) =>
    seq === 0 || local.hashAt(seq) === (seq === head.seq ? head.hash : await remote.hashAt(seq))
  if (await isEqual(shared)) {
    const kind = mine.seq === head.seq ? 'same' : mine.seq < head.seq ? 'behind' : 'ahead'
    return { kind, remote: head }
  }
  // Once hashes differ they differ for good, so the first difference is found by halving.
  let same = 0
  let different = shared
  while (different - same > 1) {
    const middle = (same + different) >> 1
    if (await isEqual(middle)) same = middle
    else different = middle
  }
  return { kind: 'forked', seq: different }
}

/** Throws EngineRefused unless PostgreSQL has all that the local ledger has. */
export async function requirePrefix(
  remote: Remote,
  local: Pick<LedgerReader, 'head' | 'hashAt'>,
): Promise<void> {
  const relation = await relate(remote, local)
  if (relation.kind === 'forked')
    throw new EngineRefused(
      `The ledger here and the one in PostgreSQL differ from event ${relation.seq} on, and nothing is merged. ` +
        'Move this directory away to take the one in PostgreSQL, or detach this one with npm run engine:detach.',
    )
  if (relation.kind === 'ahead')
    throw new EngineRefused(
      `PostgreSQL ends with event ${relation.remote.seq}, and the ledger here with event ${local.head().seq}: ` +
        'PostgreSQL has lost events. To add them to it again, run npm run engine:repair -- --push-local.',
    )
}
