import { existsSync } from 'node:fs'
import type { Draft } from '../../../ledger/codec.ts'
import { ledgerFile } from '../../../ledger/files.ts'
import type { CommitOutcome } from '../../../ledger/ledger.ts'
import type { EngineStatus, ErasedElsewhere, StorageMessage } from '../messages.ts'
import type { Writer } from '../writer.ts'
import { openAuthority } from './authority.ts'
import { connect } from './connection.ts'
import { openFollower } from './follower.ts'
import { requireSchema } from './migrate.ts'
import { EngineRefused, type PostgresOptions } from './options.ts'

/** Commits for the storage thread if PostgreSQL has the ledger, too. */
export type Engine = {
  /** Durable once it resolves. Rejects with LedgerUnavailable. Nothing else may use the writer meanwhile. */
  commit(batches: readonly (readonly Draft[])[]): Promise<CommitOutcome[]>
  /** Raised by each commit that fails although PostgreSQL may have it. */
  generation(): number
  /** Overrides the writer's status. */
  status(): { readonly engine: EngineStatus; readonly ledgerError?: string }
  /** Rejects if PostgreSQL does not answer. */
  erasedElsewhere(): Promise<ErasedElsewhere>
  close(): Promise<void>
}

export type EngineParts = {
  readonly writer: Writer
  readonly directory: string
  readonly send: (message: StorageMessage) => void
  readonly warn: (message: string, fields: Record<string, unknown>) => void
  /** Ends the process, soon. */
  readonly die: (error: Error) => void
}

/** Resolves once this node may write. Rejects with EngineRefused. */
export function openEngine(options: PostgresOptions, parts: EngineParts): Promise<Engine> {
  return options.mode === 'commit' ? openAuthority(options, parts) : openFollower(options, parts)
}

/**
 * How a directory without a ledger gets its id: in `commit` mode, it is that of the only ledger in PostgreSQL. Throws
 * EngineRefused if there is no such id, because the directory would become another ledger.
 */
export async function ledgerIdFor(
  { url, node, mode }: PostgresOptions,
  directory: string,
  newId: () => string,
): Promise<() => string> {
  if (existsSync(ledgerFile(directory))) return newId
  if (mode === 'follow')
    throw new EngineRefused(
      'This directory has no ledger. Get the one in PostgreSQL with npm run ledger:pull, or add a new one with npm run engine:init.',
    )
  const connection = await connect(url, node)
  try {
    await requireSchema(connection)
    const found = await connection.read<{ id: string }>('SELECT ledger_id AS id FROM delegate.ledger')
    const [only] = found
    if (!only) throw new EngineRefused('PostgreSQL holds no ledger. Add one with npm run engine:init.')
    // Recommends no `ledger:pull`: it would end the holder.
    if (found.length > 1)
      throw new EngineRefused(
        `PostgreSQL holds ${found.length} ledgers, and an empty directory cannot tell which is its own. Give the ledger ` +
          'that machines share a database of its own, or remove one that was added by mistake.',
      )
    return () => only.id
  } finally {
    connection.close()
  }
}
