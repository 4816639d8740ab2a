import { copyToPostgres, createTables } from '../../scripts/lib/engine.ts'
import type { PostgresOptions } from '../../src/storage/postgres/options.ts'
import { optionsFor } from './database.ts'
import type { Postgres } from './postgres.ts'

/** The variables of a service on this database. */
export function postgresEnvironment(
  { url }: Pick<Postgres, 'url'>,
  mode: PostgresOptions['mode'],
  node: string,
  leaseSeconds: number,
): Record<string, string> {
  return {
    LEDGER_POSTGRES_URL: url,
    LEDGER_POSTGRES_MODE: mode,
    LEDGER_NODE: node,
    LEDGER_LEASE_SECONDS: String(leaseSeconds),
  }
}

/** Puts the ledger of a directory into a database, as `npm run engine:init` does. */
export async function shareLedger(
  database: Postgres,
  directory: string,
  mode: PostgresOptions['mode'],
): Promise<void> {
  const options = optionsFor(database, 'here', { mode, leaseMs: 8_000 })
  await createTables(options)
  await copyToPostgres(directory, options)
}
