import { readdirSync, readFileSync } from 'node:fs'
import type { Connection } from './connection.ts'
import { EngineRefused } from './options.ts'

const directory = new URL('./schema/', import.meta.url)

/** The numbered files, in order. */
const files = () =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort()

/** Applies the files that this database lacks. Returns their names. */
export async function migrate(connection: Connection): Promise<string[]> {
  const applied: string[] = []
  const known = await version(connection)
  for (const [index, name] of files().entries()) {
    if (index < known) continue
    const sql = readFileSync(new URL(name, directory), 'utf8')
    await connection.read(`BEGIN; ${sql}; ${noteOf(index + 1)} COMMIT;`)
    applied.push(name)
  }
  return applied
}

const noteOf = (number: number) => `COMMENT ON SCHEMA delegate IS 'Ledgers of Delegate, version ${number}';`

async function version(connection: Connection): Promise<number> {
  const [found] = await connection.read<{ version: string | null }>(
    `SELECT substring(obj_description(oid, 'pg_namespace') FROM 'version (\\d+)$') AS version
     FROM pg_namespace WHERE nspname = 'delegate'`,
  )
  return Number(found?.version ?? 0)
}

/** Throws EngineRefused unless the database has all tables and functions of this build. */
export async function requireSchema(connection: Connection): Promise<void> {
  const found = await version(connection)
  const wanted = files().length
  if (found === 0) throw new EngineRefused('This database holds no ledgers yet. Run npm run engine:init.')
  if (found < wanted) throw new EngineRefused('This database is of an older build. Run npm run engine:init.')
  if (found > wanted) throw new EngineRefused('This database is of a newer build of Delegate.')
}

/** What an account needs that runs Delegate, as SQL. */
export const privileges = (role: string): string =>
  `GRANT USAGE ON SCHEMA delegate TO ${role};
GRANT SELECT ON ALL TABLES IN SCHEMA delegate TO ${role};
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA delegate TO ${role};`
