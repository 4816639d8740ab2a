import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskCauseOf } from '../../ledger/causes.ts'
import { ledgerFile, openLedgerReadOnly } from '../../ledger/files.ts'
import { Refused, undoAtExit } from './command.ts'

/** What the commands that only read look into, with what SQLite needs to recover each. */
const FILES = ['ledger.sqlite', 'views.sqlite', 'settings.sqlite'].flatMap((name) =>
  ['', '-wal', '-journal'].map((suffix) => `${name}${suffix}`),
)

/**
 * The data directory, where SQLite can read it; otherwise a copy of its databases in a temporary directory, which goes
 * when the process ends. SQLite has to make an index of a write-ahead log beside it, which a read-only or a failing
 * disk does not take. Throws Refused where the files change while they are copied.
 */
export function readableDirectory(dataDir: string): string {
  if (canRead(dataDir)) return dataDir
  const copy = mkdtempSync(join(tmpdir(), 'delegate-read-'))
  undoAtExit(() => rmSync(copy, { recursive: true, force: true }))
  const before = stateOf(dataDir)
  for (const name of [...FILES, 'ledger.head'])
    if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(copy, name))
  if (stateOf(dataDir) !== before)
    throw new Refused(`${dataDir} cannot be read in place, and changes while it is copied. Stop the service.`)
  return copy
}

function canRead(dataDir: string): boolean {
  try {
    const db = openLedgerReadOnly(dataDir)
    try {
      db.prepare('SELECT max(seq) FROM events').get()
      return true
    } finally {
      db.close()
    }
  } catch (error) {
    const cause = diskCauseOf(error)
    // Of damage and of bugs the command itself tells more.
    return cause === null || cause === 'damaged' || cause === 'locked'
  }
}

/** Sizes and times of the files that are written while a ledger is. */
function stateOf(dataDir: string): string {
  const states = [ledgerFile(dataDir), `${ledgerFile(dataDir)}-wal`].map((file) => {
    const found = statSync(file, { throwIfNoEntry: false })
    return `${found?.size} ${found?.mtimeMs}`
  })
  return states.join()
}
