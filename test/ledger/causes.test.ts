import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type DiskCause, describeDisk, diskCauseOf, diskRemedies } from '../../ledger/causes.ts'
import { LedgerDamaged, LedgerLocked, LedgerUnavailable } from '../../ledger/errors.ts'
import { testDirectory } from '../support/directory.ts'

const system = (code: string) => Object.assign(new Error(code), { code, syscall: 'open' })
const sqlite = (code: string) => new Database.SqliteError('said by SQLite', code)

test.each<[DiskCause, Error]>([
  ['full', sqlite('SQLITE_FULL')],
  ['full', system('ENOSPC')],
  ['full', system('EDQUOT')],
  ['read_only', sqlite('SQLITE_READONLY_ROLLBACK')],
  ['moved', sqlite('SQLITE_READONLY_DBMOVED')],
  ['read_only', system('EROFS')],
  ['forbidden', sqlite('SQLITE_CANTOPEN')],
  ['forbidden', system('EACCES')],
  ['forbidden', system('EPERM')],
  ['locked', sqlite('SQLITE_BUSY')],
  ['locked', new LedgerLocked('another process')],
  ['damaged', sqlite('SQLITE_CORRUPT_VTAB')],
  ['damaged', sqlite('SQLITE_NOTADB')],
  ['damaged', new LedgerDamaged('event 3 is missing')],
  ['failing', sqlite('SQLITE_IOERR_FSYNC')],
  ['failing', system('EIO')],
])('reports the cause %s for %o', (cause, error) => {
  expect(diskCauseOf(error)).toBe(cause)
  expect(diskCauseOf(new LedgerUnavailable('it refused', { cause: error }))).toBe(cause)
  // An error from another thread keeps only these properties.
  const { message, name } = error
  const code = 'code' in error ? { code: error.code } : {}
  expect(diskCauseOf(Object.assign(new Error(message), { name }, code))).toBe(cause)
  expect(diskRemedies[cause]).toMatch(/^[A-Z].*\.$/)
})

test('reports no cause for an error that is not about the disk', () => {
  for (const error of [
    new TypeError('a bug'),
    system('ECONNREFUSED'),
    sqlite('SQLITE_CONSTRAINT'),
    null,
    'x',
  ])
    expect(diskCauseOf(error)).toBeNull()
})

test('distinguishes a file without write permission from a read-only disk', ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root can make a directory that another user may not use')
  const directory = join(testDirectory(), 'data')
  mkdirSync(directory, { mode: 0o755 })
  writeFileSync(join(directory, 'ledger.sqlite'), '')
  chmodSync(directory, 0o755)
  process.seteuid?.(65_534)
  try {
    expect(diskCauseOf(sqlite('SQLITE_READONLY'), directory)).toBe('forbidden')
    // SQLite names no file.
    expect(describeDisk(sqlite('SQLITE_CANTOPEN'), directory)).toContain(directory)
  } finally {
    process.seteuid?.(0)
  }
  expect(diskCauseOf(sqlite('SQLITE_READONLY'), directory)).toBe('read_only')
})

test('blames the directory of the data only for files in it', () => {
  const denied = (path: string) => Object.assign(system('EACCES'), { path })
  expect(describeDisk(denied('/data/ledger.sqlite'), '/data')).toContain('the owner of DATA_DIR')
  const elsewhere = describeDisk(denied('/backups/.new.partial-1'), '/data')
  expect(elsewhere).toMatch(
    /^Permission denied\. Give the account .* the right to it, or choose another place\. \(.*EACCES/,
  )
})
