import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, onTestFinished } from 'vitest'
import { createTables } from '../../scripts/lib/engine.ts'
import type { PostgresOptions } from '../../src/storage/postgres/options.ts'
import { TEST_ROOT } from './directory.ts'
import { createPostgres, type Postgres, startPair } from './postgres.ts'

/** Takes what is to be done at the end of a test, or of all tests of a file. */
type OnEnd = (cleanup: () => void | Promise<void>) => void

/** A directory that the account of the server can reach. */
function serverDirectory(onEnd: OnEnd): string {
  const directory = mkdtempSync(join(TEST_ROOT, 'delegate-postgres-'))
  chmodSync(directory, 0o711)
  onEnd(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A running PostgreSQL without standbys. */
export async function startDatabase(onEnd: OnEnd = onTestFinished): Promise<Postgres> {
  const database = await createPostgres(serverDirectory(onEnd))
  onEnd(() => database.kill())
  await database.start()
  return database
}

/** A primary and its synchronous standby. */
export async function startDatabases(
  onEnd: OnEnd = onTestFinished,
): Promise<{ primary: Postgres; standby: Postgres }> {
  const pair = await startPair(serverDirectory(onEnd))
  onEnd(async () => {
    await Promise.all([pair.primary.kill(), pair.standby.kill()])
  })
  return pair
}

/** A database for all tests of a file. It runs once the first of them begins. */
export function sharedDatabase(): () => Postgres {
  let database: Postgres | null = null
  beforeAll(async () => {
    const cleanups: (() => void | Promise<void>)[] = []
    database = await startDatabase((cleanup) => void cleanups.push(cleanup))
    await createTables(optionsFor(database, 'setup', { leaseMs: 8_000 }))
    return async () => {
      for (const cleanup of cleanups.reverse()) await cleanup()
    }
  })
  return () => {
    if (!database) throw new Error('the database does not run yet')
    return database
  }
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
