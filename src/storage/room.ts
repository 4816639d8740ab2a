import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ledgerFile } from '../../ledger/files.ts'

/** What stays free, for the work that follows. */
const MARGIN_BYTES = 50_000_000
const MB = 1_000_000

/**
 * How many megabytes the disk of a data directory lacks for copies of its ledger and its database of settings. Not
 * positive if there is room.
 */
export function lackingMegabytes(directory: string, database: string, copies: number): number {
  const files = [ledgerFile(directory), `${ledgerFile(directory)}-wal`, join(directory, database)]
  const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
  const { bavail, bsize } = statfsSync(directory)
  return Math.ceil((copies * bytes + MARGIN_BYTES - bavail * bsize) / MB)
}
