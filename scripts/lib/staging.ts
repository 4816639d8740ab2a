import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { syncDirectory } from '../../ledger/files.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import { Refused, undoAtExit } from './command.ts'

const STAGING = '.incoming'
/** What an empty data directory may hold: the key that no backup has, and what is made anew by itself. */
const HARMLESS = new Set(['secret.key', 'lock.sqlite', 'lock.sqlite-journal', 'lost+found', STAGING])

/**
 * Where a data directory is made before it is one: below it, so that the last step is a rename. Until then the
 * directory is locked, and holds nothing that a start of the service would take for its own.
 */
export type Staging = {
  readonly directory: string
  /** Puts the finished files in place, durably, in that order. The ledger comes last: it makes the directory one. */
  publish(names: readonly string[]): void
  /** Leaves everything as it was, unless it is published. Runs by itself at the end of the process. */
  discard(): void
}

/** Throws Refused where the directory holds anything, and LedgerLocked where a service runs in it. */
export function openStaging(dataDir: string): Staging {
  const madeFrom = mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const found = readdirSync(dataDir).filter((name) => !HARMLESS.has(name))
  if (found.length > 0)
    throw new Refused(`${dataDir} is not empty (${found.slice(0, 3).join(', ')}); choose another DATA_DIR.`)
  const hadLock = existsSync(join(dataDir, 'lock.sqlite'))
  const lock = lockDirectory(dataDir)
  const directory = join(dataDir, STAGING)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { mode: 0o700 })
  let isOver = false

  function discard(): void {
    if (isOver) return
    isOver = true
    rmSync(directory, { recursive: true, force: true })
    lock.release()
    if (!hadLock) rmSync(join(dataDir, 'lock.sqlite'), { force: true })
    if (madeFrom !== undefined) removeEmpty(dataDir, madeFrom)
  }
  undoAtExit(discard)

  return {
    directory,
    publish(names) {
      for (const name of names) {
        syncFile(join(directory, name))
        renameSync(join(directory, name), join(dataDir, name))
        syncDirectory(dataDir)
      }
      isOver = true
      rmSync(directory, { recursive: true, force: true })
      lock.release()
    },
    discard,
  }
}

/** Removes the directories from `leaf` up to `topmost`, which were made for it. */
function removeEmpty(leaf: string, topmost: string): void {
  rmdirSync(leaf)
  if (leaf !== topmost) removeEmpty(dirname(leaf), topmost)
}

/** Puts a file on disk, whoever wrote it. */
export function syncFile(file: string): void {
  const descriptor = openSync(file, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
