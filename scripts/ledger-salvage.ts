import type { Missing } from '../ledger/salvage/salvage.ts'
import { HELD, headLines, requireLedger, runCommand } from './lib/command.ts'
import { salvage } from './lib/salvage.ts'

const help = `npm run ledger:salvage -- <new directory> [--from <source>]…

Saves what can be read of a damaged ledger in DATA_DIR into a new directory, with settings, adaptation files and
secret.key. Stop the service first. Changes nothing in DATA_DIR, which may be on a read-only disk. Needs free space of
about three times the ledger.

Keeps an event only if the chain of hashes proves it. Prints which events are missing, and records it in the ledger.
Nothing is sent until you release it in the browser. Then start the service with the new DATA_DIR.

  --from <source>  fills gaps; may be repeated. A directory of a backup, a file of npm run ledger:export, a zip that was
                   exported in the browser, or postgres for the ledger in LEDGER_POSTGRES_URL. Restore an encrypted backup first.

Exits with 0 if the ledger is complete, 3 if events are missing or its end is unknown, 1 if nothing was saved.
`

const INCOMPLETE = 3

await runCommand({
  help,
  positionals: { min: 1, max: 1 },
  options: { from: { type: 'string', multiple: true } },
  async run({ dataDir, positionals: [target = ''], values }) {
    const sources = [values.from ?? []].flat().map(String)
    if (sources.length === 0) requireLedger(dataDir)
    const { head, saved, filled, missing, isEndKnown, hints } = await salvage(dataDir, target, sources)
    const from = filled === 0 ? '' : `, ${filled} of them from ${sources.join(', ')}`
    process.stdout.write(`Saved ${saved} events into ${target}${from}.\n`)
    for (const gap of missing) process.stdout.write(`MISSING: ${describe(gap)}.\n`)
    if (!isEndKnown)
      process.stdout.write(
        'The end is unknown: ledger.head is missing or names another event. Newer events may be missing.\n',
      )
    if (missing.length === 0 && isEndKnown) process.stdout.write('The ledger is complete.\n')
    for (const hint of hints) process.stdout.write(`${hint}\n`)
    process.stdout.write(headLines(head))
    process.stdout.write(HELD)
    if (missing.length > 0 || !isEndKnown) process.exitCode = INCOMPLETE
  },
})

function describe({ firstSeq, lastSeq, after, before }: Missing): string {
  const count = lastSeq - firstSeq + 1
  const which = count === 1 ? `event ${firstSeq}` : `${count} events, ${firstSeq} to ${lastSeq}`
  return `${which}, between ${after ?? 'the beginning'} and ${before ?? 'the end'}`
}
