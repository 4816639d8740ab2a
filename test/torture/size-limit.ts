import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import { viewsFile } from '../../ledger/files.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { firstWords, hashOf, survey } from './soundness.ts'

/*
 * For machines without a C compiler: `ulimit -f` limits the size of every file, so the ledger's write-ahead
 * log fills up at some commit. This file is also the program that runs under the limit.
 */

export type SizeLimitReport = {
  readonly acknowledged: number
  readonly refused: number
  readonly flaws: readonly string[]
}

/** Twice as many as fit. */
const APPENDS = 120
/** Room for about 50 of the appends. */
const ROOM_BLOCKS = 190

/** The file size limit, in blocks of 1,024 bytes, that `fillUp` reaches halfway. */
export function tightLimit(directory: string): number {
  const fresh = join(directory, 'fresh')
  mkdirSync(fresh, { recursive: true })
  openTestWriter(fresh).close()
  // The empty tables of the views are the largest file.
  return Math.ceil(statSync(viewsFile(fresh)).size / 1024) + ROOM_BLOCKS
}

/** Runs once with files limited to `limitBlocks` of 1,024 bytes, then without a limit. */
export function fillUp(directory: string, limitBlocks: number): SizeLimitReport {
  mkdirSync(directory, { recursive: true })
  const ran = spawnSync(
    'bash',
    [
      '-c',
      `ulimit -f ${limitBlocks}; exec "$0" "$1" "$2"`,
      process.execPath,
      import.meta.filename,
      directory,
    ],
    { encoding: 'utf8' },
  )
  const acknowledgedFile = join(directory, 'acknowledged')
  const lines = existsSync(acknowledgedFile) ? readFileSync(acknowledgedFile, 'utf8').trim().split('\n') : []
  // The process may refuse to start if not even the tables fit.
  const mayEnd = ran.status === 0 || lines.length === 0
  const flaws = mayEnd ? [] : [`the process ended with ${ran.status ?? ran.signal}: ${ran.stderr}`]
  const refused = lines.filter((line) => line.startsWith('refused'))
  const kept = lines.filter((line) => line.startsWith('head')).map((line) => line.split(' '))
  const { flaws: unsound, events } = survey(directory)
  const words = firstWords(events)
  for (const [, seq, hash, word = ''] of kept)
    if (hashOf(directory, Number(seq)) !== hash || !words.has(word))
      flaws.push(`event ${seq} was acknowledged and is lost`)
  for (const word of refused.map((line) => line.split(' ')[1] ?? ''))
    if (words.has(word)) flaws.push(`${word} was refused but is present`)
  const reopened = openTestWriter(directory)
  if (reopened.append(said('space again')).status !== 'appended') flaws.push('the ledger does not recover')
  reopened.close()
  return { acknowledged: kept.length, refused: refused.length, flaws: [...flaws, ...unsound] }
}

function live(directory: string): void {
  const writer = openTestWriter(directory)
  const acknowledged = openSync(join(directory, 'acknowledged'), 'a')
  for (let index = 0; index < APPENDS; index += 1) {
    const word = `word${index}w`
    try {
      writer.append(said(`${word} ${'and so on '.repeat(index % 4 === 3 ? 1000 : 10)}`))
      const { seq, hash } = writer.ledger.head()
      writeSync(acknowledged, `head ${seq} ${hash} ${word}\n`)
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
      writeSync(acknowledged, `refused ${word}\n`)
    }
    writer.step(10)
  }
  closeSync(acknowledged)
  writer.close()
}

const [program, directory] = process.argv.slice(1)
if (program === import.meta.filename && directory) live(directory)
