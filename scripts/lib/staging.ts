import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { incomingDirectory, ledgerFile, syncDirectory, syncFile } from '../../ledger/files.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import { ADAPTATIONS_DIRECTORY } from '../../src/adaptations/files.ts'
import { tightenModes } from '../../src/storage/modes.ts'
import { Refused, undoAtExit } from './command.ts'

/** What a data directory may contain and still count as empty: the key, and what is recreated anyway. */
const HARMLESS = new Set(['secret.key', 'lock.sqlite', 'lock.sqlite-journal', 'lost+found'])

/** Published before the ledger. */
const PUBLISHED = [ADAPTATIONS_DIRECTORY, 'settings.sqlite']

export type Staging = ReturnType<typeof openStaging>

/**
 * Opens a data directory in the making, below the real one, so that the last step is a rename. Until then the
 * real directory is locked, and the service finds nothing in it that it would use. Other accounts lose access to
 * it. Throws Refused if the directory is not empty, and LedgerLocked if a service runs in it.
 */
export function openStaging(dataDir: string) {
  const firstCreated = mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const directory = incomingDirectory(dataDir)
  leftoversIn(dataDir)
  const hadLock = existsSync(join(dataDir, 'lock.sqlite'))
  const lock = lockDirectory(dataDir)
  const published: string[] = []
  try {
    // Checked again under the lock: another restore may have finished meanwhile.
    for (const name of leftoversIn(dataDir)) rmSync(join(dataDir, name), { recursive: true, force: true })
    // The first start names what this account may not change.
    tightenModes(dataDir)
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
    if (firstCreated !== undefined) removeEmpty(dataDir, firstCreated)
  }
  undoAtExit(discard)

  return {
    directory,
    /** Moves the finished files into place durably, in order; the ledger comes last. */
    publish(names: readonly string[]): void {
      for (const name of names) {
        if (existsSync(join(directory, `${name}-wal`)))
          throw new Error(`${name} is incomplete: part of it is in its log`)
        syncFile(join(directory, name))
        renameSync(join(directory, name), join(dataDir, name))
        published.push(name)
        syncDirectory(dataDir)
      }
      isOver = true
      rmSync(directory, { recursive: true, force: true })
      lock.release()
    },
    /** Restores the previous state unless published. Also runs when the process ends. */
    discard,
  }
}

/**
 * Closes a ledger that is to be published as a single file. SQLite's own close does not report that a full
 * disk kept it from emptying the log. Throws LedgerUnavailable if the disk refuses.
 */
export function closeWhole(ledger: Ledger): void {
  if (!ledger.truncateLog()) throw new Error('the log of the ledger could not be emptied')
  ledger.close()
}

/**
 * Leftovers of an interrupted restore or import, in the order to remove them: first the files already in
 * place, which are those missing from the staging directory. Throws Refused if the directory contains
 * anything else.
 */
function leftoversIn(dataDir: string): string[] {
  const incoming = incomingDirectory(dataDir)
  const isInterrupted = existsSync(ledgerFile(incoming)) && !existsSync(ledgerFile(dataDir))
  const inPlace = PUBLISHED.filter((name) => isInterrupted && !existsSync(join(incoming, name)))
  const leftovers = [...inPlace, basename(incoming)]
  const found = readdirSync(dataDir).filter((name) => !HARMLESS.has(name) && !leftovers.includes(name))
  if (found.length > 0)
    throw new Refused(
      `${dataDir} is not empty (${found.slice(0, 3).join(', ')}); choose an empty or new directory.`,
    )
  return leftovers
}

/** Removes the new directories from `leaf` up to `topmost`. */
function removeEmpty(leaf: string, topmost: string): void {
  rmdirSync(leaf)
  if (leaf !== topmost) removeEmpty(dirname(leaf), topmost)
}
