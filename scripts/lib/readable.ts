import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskCauseOf } from '../../ledger/causes.ts'
import { closing } from '../../ledger/closing.ts'
import { ledgerFile, openLedgerReadOnly } from '../../ledger/files.ts'
import { Refused, undoAtExit } from './command.ts'

/** The files that read-only commands use, with the logs that SQLite needs to recover them. */
const FILES = ['ledger.sqlite', 'views.sqlite', 'settings.sqlite'].flatMap((name) =>
  ['', '-wal', '-journal'].map((suffix) => `${name}${suffix}`),
)

/**
 * Returns the data directory if SQLite can read it, else a temporary copy that is removed when the process
 * ends. SQLite must create an index beside a write-ahead log, which a read-only or failing disk prevents.
 * Throws Refused if the ledger changes while it is copied.
 */
export function readableDirectory(dataDir: string): string {
  if (canRead(dataDir)) return dataDir
  const copy = mkdtempSync(join(tmpdir(), 'delegate-read-'))
  undoAtExit(() => rmSync(copy, { recursive: true, force: true }))
  const before = stateOf(dataDir)
  for (const name of [...FILES, 'ledger.head'])
    if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(copy, name))
  if (stateOf(dataDir) !== before)
    throw new Refused(
      `${dataDir} cannot be read in place, and its ledger changed during the copy. Stop the service, then run this again.`,
    )
  return copy
}

function canRead(dataDir: string): boolean {
  try {
    using db = closing(openLedgerReadOnly(dataDir))
    db.prepare('SELECT max(seq) FROM events').get()
    return true
  } catch (error) {
    const cause = diskCauseOf(error)
    // The command itself reports more about damage and bugs.
    return cause === null || cause === 'damaged' || cause === 'locked'
  }
}

/** Sizes and times of the files that change when the ledger does. */
export function stateOf(dataDir: string): string {
  const states = [ledgerFile(dataDir), `${ledgerFile(dataDir)}-wal`].map((file) => {
    const found = statSync(file, { throwIfNoEntry: false })
    return `${found?.size} ${found?.mtimeMs}`
  })
  return states.join()
}
