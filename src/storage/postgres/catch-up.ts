import type { EventRow } from '../../../ledger/codec.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { verifyLink } from '../../../ledger/verify.ts'
import { EngineRefused } from './options.ts'
import { DETACHED, type Remote, type RemoteLedger } from './remote.ts'

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

/**
 * Whether the epoch before a new one was of this directory. Then nobody else has written since, and what lies beside
 * its ledger is the newest.
 */
export const isLastEpoch = ({ meta }: Pick<LedgerReader, 'meta'>, epoch: number): boolean =>
  Number(meta('epoch') ?? -1) === epoch - 1

/** How the local ledger and that in PostgreSQL relate. `forked` has the first event in which they differ. */
export type Relation = { readonly remote: RemoteLedger } & (
  | { readonly kind: 'same' | 'behind' | 'ahead' }
  | { readonly kind: 'forked'; readonly seq: number }
)

/** Compares by hashes: equal hashes mean equal histories. */
export async function relate(
  remote: Remote,
  local: Pick<LedgerReader, 'head' | 'hashAt'>,
): Promise<Relation> {
  const head = await remote.ledger()
  if (!head)
    throw new EngineRefused(`This database has no ledger ${remote.ledgerId}. Run npm run engine:init.`)
  const mine = local.head()
  const shared = Math.min(mine.seq, head.headSeq)
  const isEqual = async (seq: number) =>
    seq === 0 || local.hashAt(seq) === (seq === head.headSeq ? head.headHash : await remote.hashAt(seq))
  if (await isEqual(shared)) {
    const kind = mine.seq === head.headSeq ? 'same' : mine.seq < head.headSeq ? 'behind' : 'ahead'
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
  return { kind: 'forked', seq: different, remote: head }
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
  if (relation.kind === 'ahead') {
    const { headSeq, holder } = relation.remote
    const command = holder === DETACHED ? 'engine:init' : 'engine:repair -- --push-local'
    throw new EngineRefused(
      `PostgreSQL ends with event ${headSeq}, and the ledger here with event ${local.head().seq}. ` +
        `To add what PostgreSQL does not have, run npm run ${command}.`,
    )
  }
}
