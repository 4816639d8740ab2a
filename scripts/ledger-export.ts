import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { closing } from '../ledger/closing.ts'
import { exportLines } from '../ledger/export.ts'
import { openLedgerReadOnly, syncDirectory } from '../ledger/files.ts'
import { createReader } from '../ledger/reader.ts'
import { headLines, Refused, requireLedger, runCommand, undoAtExit } from './lib/command.ts'
import { readableDirectory } from './lib/readable.ts'

const help = `npm run --silent ledger:export -- <file | ->

Writes the ledger of DATA_DIR as JSON Lines to a new file or, with -, to standard output: a header {format, version,
events, headHash, ledgerId}, then each event as stored, with its hash. Erased events have no body. Verifies the chain
while it writes. The service may be running. If the disk is read-only or full, it reads a temporary copy in TMPDIR.

The export holds everything that was said, unencrypted. Read it with npm run ledger:import.
`

await runCommand({
  help,
  positionals: { min: 1, max: 1 },
  async run({ dataDir, positionals: [target = '-'] }) {
    requireLedger(dataDir)
    using db = closing(openLedgerReadOnly(readableDirectory(dataDir)))
    let header = ''
    const lines = function* () {
      for (const chunk of exportLines(db)) {
        header ||= chunk
        yield chunk
      }
    }
    if (target === '-') await pipeline(Readable.from(lines()), process.stdout)
    else await writeFile(resolve(target), lines())
    const { events, headHash } = JSON.parse(header)
    const head = { ledgerId: createReader(db).id(), seq: events, hash: headHash }
    process.stderr.write(`Exported ${events} events.\n${headLines(head)}`)
  },
})

/** Writes the file atomically. */
async function writeFile(file: string, lines: Iterable<string>): Promise<void> {
  if (existsSync(file)) throw new Refused(`${file} already exists.`)
  const partial = `${file}.partial-${process.pid}`
  const discard = () => rmSync(partial, { force: true })
  undoAtExit(discard)
  try {
    await pipeline(
      Readable.from(lines),
      createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }),
    )
    renameSync(partial, file)
    syncDirectory(dirname(file))
  } finally {
    discard()
  }
}
