import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { diskCauseOf, diskRemedies } from '../../ledger/causes.ts'
import { testDirectory } from '../support/directory.ts'

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

const withCode = (code: string) => Object.assign(new Error(code), { code })

test('names the cause of what SQLite throws', () => {
  const directory = testDirectory()
  const file = join(directory, 'a.sqlite')
  const db = new Database(file)
  db.exec('CREATE TABLE t (x)')
  db.pragma('max_page_count = 2')
  expect(diskCauseOf(thrownBy(() => db.exec('INSERT INTO t VALUES (zeroblob(100000))')))).toBe('full')
  db.exec('BEGIN EXCLUSIVE')
  const other = new Database(file, { timeout: 0 })
  expect(diskCauseOf(thrownBy(() => other.exec('SELECT * FROM t')))).toBe('locked')
  db.exec('ROLLBACK')
  const reader = new Database(file, { readonly: true })
  expect(diskCauseOf(thrownBy(() => reader.exec('DELETE FROM t')))).toBe('read_only')
  writeFileSync(join(directory, 'b.sqlite'), 'x'.repeat(4096))
  expect(diskCauseOf(thrownBy(() => new Database(join(directory, 'b.sqlite')).pragma('user_version')))).toBe(
    'damaged',
  )
  mkdirSync(join(directory, 'c.sqlite'))
  expect(diskCauseOf(thrownBy(() => new Database(join(directory, 'c.sqlite'))))).toBe('forbidden')
  for (const each of [db, other, reader]) each.close()
})

test('names the cause of what the file system throws, and of what wraps it', () => {
  expect(['ENOSPC', 'EROFS', 'EACCES', 'EIO', 'ENOENT'].map((code) => diskCauseOf(withCode(code)))).toEqual([
    'full',
    'read_only',
    'forbidden',
    'failing',
    null,
  ])
  expect(diskCauseOf(new Error('not kept', { cause: withCode('SQLITE_IOERR_FSYNC') }))).toBe('failing')
  expect(diskCauseOf('ENOSPC')).toBeNull()
})

test('each cause has a sentence of its own', () => {
  expect(new Set(Object.values(diskRemedies)).size).toBe(6)
})
