import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { PostgresOptions } from '../../src/storage/postgres/options.ts'
import { TEST_ROOT } from './directory.ts'
import { createPostgres, type Postgres, startPair } from './postgres.ts'

/** A directory that the account of the server can reach. */
function serverDirectory(): string {
  const directory = mkdtempSync(join(TEST_ROOT, 'delegate-postgres-'))
  chmodSync(directory, 0o711)
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A running PostgreSQL without standbys, for one test. */
export async function startDatabase(): Promise<Postgres> {
  const database = await createPostgres(serverDirectory())
  onTestFinished(() => database.kill())
  await database.start()
  return database
}

/** A primary and its synchronous standby, for one test. */
export async function startDatabases(): Promise<{ primary: Postgres; standby: Postgres }> {
  const pair = await startPair(serverDirectory())
  onTestFinished(async () => {
    await Promise.all([pair.primary.kill(), pair.standby.kill()])
  })
  return pair
}

/** How a node of a test uses a database. */
export function optionsFor(
  { url }: Pick<Postgres, 'url'>,
  node: string,
  more: Partial<PostgresOptions> = {},
): PostgresOptions {
  const state = { database: 'settings.sqlite', directory: 'adaptations' }
  return { url, mode: 'commit', node, leaseMs: 800, state, ...more }
}
