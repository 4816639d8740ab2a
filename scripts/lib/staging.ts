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
import { basename, dirname, join } from 'node:path'
import { incomingDirectory, ledgerFile, syncDirectory } from '../../ledger/files.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import { ADAPTATIONS_DIRECTORY } from '../../src/adaptations/adaptations.ts'
import { Refused, undoAtExit } from './command.ts'

/** What an empty data directory may hold: the key that no backup has, and what is made anew by itself. */
const HARMLESS = new Set(['secret.key', 'lock.sqlite', 'lock.sqlite-journal', 'lost+found'])

/** What is put in place before the ledger. */
const PUBLISHED = [ADAPTATIONS_DIRECTORY, 'settings.sqlite']

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
  const directory = incomingDirectory(dataDir)
  leftoversIn(dataDir)
  const hadLock = existsSync(join(dataDir, 'lock.sqlite'))
  const lock = lockDirectory(dataDir)
  const published: string[] = []
  try {
    // Once more: another restore may have come to its end in the meantime.
    for (const name of leftoversIn(dataDir)) rmSync(join(dataDir, name), { recursive: true, force: true })
  } catch (error) {
    lock.release()
    throw error
  }
  mkdirSync(directory, { mode: 0o700 })
  let isOver = false

  function discard(): void {
    if (isOver) return
    isOver = true
    for (const name of published) rmSync(join(dataDir, name), { recursive: true, force: true })
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
        if (existsSync(join(directory, `${name}-wal`)))
          throw new Error(`${name} is not whole: part of it is in its log`)
        syncFile(join(directory, name))
        renameSync(join(directory, name), join(dataDir, name))
        published.push(name)
        syncDirectory(dataDir)
      }
      isOver = true
      rmSync(directory, { recursive: true, force: true })
      lock.release()
    },
    discard,
  }
}

/**
 * Closes a ledger that is to be published, as one whole file: SQLite's own close keeps to itself that the disk had no room
 * for what is in the log. Throws LedgerUnavailable when the disk refuses.
 */
export function closeWhole(ledger: Ledger): void {
  if (!ledger.truncateLog()) throw new Error('the log of the ledger could not be emptied')
  ledger.close()
}

/**
 * What a restore or an import that was cut short has left, in the order in which it is to go: first what it had put in
 * place already, told by its being gone from where it was made. Throws Refused where the directory holds anything else.
 */
function leftoversIn(dataDir: string): string[] {
  const incoming = incomingDirectory(dataDir)
  const isCutShort = existsSync(ledgerFile(incoming)) && !existsSync(ledgerFile(dataDir))
  const inPlace = PUBLISHED.filter((name) => isCutShort && !existsSync(join(incoming, name)))
  const leftovers = [...inPlace, basename(incoming)]
  const found = readdirSync(dataDir).filter((name) => !HARMLESS.has(name) && !leftovers.includes(name))
  if (found.length > 0)
    throw new Refused(`${dataDir} is not empty (${found.slice(0, 3).join(', ')}); choose another DATA_DIR.`)
  return leftovers
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
