import { cpSync, rmSync } from 'node:fs'
import fc from 'fast-check'
import { expect } from 'vitest'
import { closing } from '../../ledger/closing.ts'
import { ledgerFile } from '../../ledger/files.ts'
import { makeBackup } from '../../scripts/lib/backup.ts'
import { salvage } from '../../scripts/lib/salvage.ts'
import { type Damage, damagePages } from './damage.ts'
import { digests, testDirectory } from './directory.ts'
import { expectHonest, rowsIn } from './salvaging.ts'
import { openTestWriter, said } from './writer.ts'

/** A killed ledger with events in its log, erasures, long bodies and keys; and a backup of its first part. */
export async function makeLedger(events: number) {
  const live = testDirectory()
  const directory = `${testDirectory()}/killed`
  const backup = `${testDirectory()}/backup`
  using writer = closing(openTestWriter(live))
  let backedUp = 0
  for (let from = 0; from < events; from += 50) {
    writer.append(
      ...Array.from({ length: 50 }, (_, index) =>
        said(`message ${from + index} ${'straw '.repeat(index === 7 ? 3000 : index)}`, {
          ...(index % 3 === 0 && { key: `key-${from + index}` }),
        }),
      ),
    )
    if (from % 400 === 0 && from > 0) writer.forget(from - 20, from - 390)
    if (from >= events / 2 && backedUp === 0) backedUp = (await makeBackup(live, backup, Date.now)).events
    if (from === events - 200) writer.ledger.truncateLog()
  }
  cpSync(live, directory, { recursive: true })
  rmSync(`${ledgerFile(directory)}-shm`)
  return { directory, backup, backedUp, rows: rowsIn(live) }
}

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('zeros', 'noise', 'swap'),
  page: fc.nat(),
  other: fc.nat(),
})

export const damages = fc.record({
  ofFile: fc.array(damage, { minLength: 10, maxLength: 10 }),
  ofLog: fc.array(damage, { maxLength: 2 }),
  hasBackup: fc.boolean(),
})

/** Damages a copy, salvages it, and expects that nothing false was kept and nothing was lost in silence. */
export async function trial(
  made: Awaited<ReturnType<typeof makeLedger>>,
  { ofFile, ofLog, hasBackup }: typeof damages extends fc.Arbitrary<infer T> ? T : never,
): Promise<{ readonly lost: number; readonly saved: number }> {
  const directory = testDirectory()
  const target = `${testDirectory()}/salvaged`
  cpSync(made.directory, directory, { recursive: true })
  damagePages(ledgerFile(directory), ofFile)
  damagePages(`${ledgerFile(directory)}-wal`, ofLog)
  const before = digests(directory)
  const outcome = await salvage(directory, target, hasBackup ? [made.backup] : [])
  expect(digests(directory)).toEqual(before)
  const lost = expectHonest(target, made.rows, outcome)
  // An erased event whose erasure is lost is given up, too: the backup would bring its words back.
  const wasErased = (seq: number) => made.rows[seq - 1]?.body === null
  if (hasBackup) expect(lost.filter((seq) => seq <= made.backedUp && !wasErased(seq))).toEqual([])
  expect(outcome.isEndKnown).toBe(true)
  return { lost: lost.length, saved: outcome.saved }
}
