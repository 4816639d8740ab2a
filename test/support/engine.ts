import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { closing } from '../../ledger/closing.ts'
import { copyToPostgres } from '../../scripts/lib/engine.ts'
import type { PostgresOptions } from '../../src/storage/postgres/options.ts'
import type { StorageOptions } from '../../src/storage/storage.ts'
import { openTestStorage, type TestStorage } from './storage.ts'

/** Storage over PostgreSQL whose end it records instead of throwing. */
export async function openNode(
  directory: string,
  postgres: PostgresOptions,
  options: Partial<StorageOptions> = {},
): Promise<TestStorage & { readonly fatal: Error[] }> {
  const fatal: Error[] = []
  const onFatal = (error: Error) => void fatal.push(error)
  const storage = await openTestStorage(directory, { postgres, onFatal, ...options })
  return { ...storage, fatal }
}

/** Storage over PostgreSQL, whose directory was copied there before. */
export async function initNode(directory: string, postgres: PostgresOptions) {
  await copyToPostgres(directory, { ...postgres, leaseMs: 8_000 })
  return openNode(directory, postgres)
}

/** Adds a setting, and replaces an adaptation. Others may read them, as after a careless copy. */
export function writeState(directory: string, value: string): void {
  const file = join(directory, 'settings.sqlite')
  using db = closing(new Database(file))
  db.exec('CREATE TABLE IF NOT EXISTS settings (value TEXT)')
  db.prepare('INSERT INTO settings VALUES (?)').run(value)
  mkdirSync(join(directory, 'adaptations'), { recursive: true })
  writeFileSync(join(directory, 'adaptations/tone.md'), value)
  chmodSync(file, 0o644)
}

/** All settings, the adaptation, and the modes of both files. */
export function readState(directory: string) {
  const [settings = '', adaptation = ''] = ['settings.sqlite', 'adaptations/tone.md'].map((name) =>
    join(directory, name),
  )
  using db = closing(new Database(settings, { readonly: true }))
  return {
    settings: db.prepare('SELECT value FROM settings').pluck().all(),
    adaptation: readFileSync(adaptation, 'utf8'),
    modes: [settings, adaptation].map((file) => statSync(file).mode & 0o777),
  }
}

/** Resolves once PostgreSQL has what `writeState` wrote: the two files may arrive one after the other. */
export async function untilStateSent(
  database: { query(text: string, parameters: unknown[]): Promise<{ rowCount: number | null }> },
  ledgerId: string,
  value: string,
): Promise<void> {
  const has = 'SELECT 1 FROM delegate.file WHERE ledger_id = $1 AND position($2::bytea in bytes) > 0'
  await expect.poll(async () => (await database.query(has, [ledgerId, Buffer.from(value)])).rowCount).toBe(2)
}
