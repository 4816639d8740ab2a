import { createHash } from 'node:crypto'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Database } from 'better-sqlite3'
import { ZipFile } from 'yazl'
import { closing } from '../../ledger/closing.ts'
import { exportLines } from '../../ledger/export.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { msg } from '../../src/language/msg.ts'
import { createTexts } from './export-texts.ts'

/** The entry that `ledger:import` reads. */
export const LEDGER_ENTRY = 'ledger.jsonl'

const about = () => msg`# Everything that Delegate keeps for you

- ${LEDGER_ENTRY}: the whole ledger, in the form of \`npm run ledger:export\`. Everything else here is made from it.
  \`npm run ledger:import -- <this zip>\` creates the same pages from it in an empty directory.
- conversations/: what was said, one file for each month
- imported/: conversations that you imported from other assistants, one file for each
- notes/: your notes, without deleted ones
- instructions/: your standing instructions
- memories.md: what Delegate remembers
- reminders.ics: open and coming reminders, for a calendar; a repeating one for the next 90 days, at most 100 times

Settings, passwords and keys are not included. A backup has the settings.
`

/**
 * Writes everything in open formats into a zip file. Streams, so memory does not grow with the ledger. Verifies the chain
 * while it reads. Throws LedgerDamaged.
 */
export async function writeExport(options: {
  readonly dataDir: string
  readonly file: string
  readonly timezone: string
}) {
  const { dataDir, file } = options
  using ledger = closing(openLedgerReadOnly(dataDir))
  using views = closing(openViewsReadOnly(dataDir))
  const partial = `${file}.partial`
  const digest = createHash('sha256')
  let bytes = 0
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  const zip = new ZipFile()
  const fail = (error: unknown) => measure.destroy(error instanceof Error ? error : new Error(String(error)))
  zip.on('error', fail)
  // Entries are opened one after the other, each when its turn comes.
  const add = (name: string, chunks: () => Iterable<string>) =>
    zip.addReadStreamLazy(name, { mode: 0o100600 }, (opened) => {
      const stream = Readable.from(chunks())
      stream.on('error', fail)
      opened(null, stream)
    })
  add('README.md', () => [about()])
  add(LEDGER_ENTRY, () => exportLines(ledger))
  for (const { name, chunks } of createTexts({ ...options, ledger, views })) add(name, chunks)
  zip.end()
  try {
    await pipeline(
      zip.outputStream,
      measure,
      createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }),
    )
    renameSync(partial, file)
    return { ...headOf(ledger), bytes, digest: digest.digest('hex') }
  } finally {
    rmSync(partial, { force: true })
  }
}

function headOf(ledger: Database) {
  const reader = createReader(ledger)
  const { seq, hash } = reader.head()
  return { ledgerId: reader.id(), events: seq, headHash: hash }
}
