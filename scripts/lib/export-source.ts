import { createReadStream, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openPromise } from 'yauzl'
import { ledgerFile } from '../../ledger/files.ts'
import { isZip } from '../../src/imports/read/export-file.ts'
import { Refused } from './command.ts'
import { LEDGER_ENTRY } from './export.ts'

/** Whether a directory is the unpacked zip of an export. One with a ledger may have an export beside it. */
export const isUnpackedExport = (directory: string): boolean =>
  existsSync(join(directory, LEDGER_ENTRY)) && !existsSync(ledgerFile(directory))

/**
 * The JSON Lines of an export: of a file, of the zip from the browser, of the directory where that was unpacked, or of
 * standard input for `-`. Throws Refused.
 */
export async function openExport(source: string): Promise<AsyncIterable<string>> {
  if (source === '-') return withoutZip(process.stdin.setEncoding('utf8'))
  const found = statSync(source, { throwIfNoEntry: false })
  if (!found) throw new Refused(`${source} does not exist.`)
  if (found.isDirectory()) {
    if (isUnpackedExport(source)) return createReadStream(join(source, LEDGER_ENTRY), 'utf8')
    throw new Refused(`${source} is a directory, not an export. If it is a backup, run npm run restore.`)
  }
  // The beginning of a pipe can be read only once.
  if (!found.isFile() || !(await isZip(source))) return createReadStream(source, 'utf8')
  const zip = await openPromise(source)
  for await (const entry of zip.eachEntry())
    if (entry.fileName === LEDGER_ENTRY) return (await zip.openReadStreamPromise(entry)).setEncoding('utf8')
  throw new Refused(`${source} has no ${LEDGER_ENTRY}, so it is not an export of Delegate.`)
}

/** Refuses a zip in a stream, because the list of its entries is at its end. */
async function* withoutZip(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst && chunk.startsWith('PK\u0003\u0004'))
      throw new Refused('Standard input is a zip. Name the file instead.')
    isFirst = false
    yield chunk
  }
}
