import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { aFact } from '../support/facts.ts'
import { createRandom } from '../support/random.ts'
import { openTestWriter, said } from '../support/writer.ts'

/**
 * Runs on the recorded disk: appends, erases, indexes and restarts at random. Writes to the file
 * `acknowledged` what a client would be told, at the moment it would be told.
 */
function main([directory = '', seed = '1', commits = '100', synchronous = 'FULL']: readonly string[]): void {
  const random = createRandom(Number(seed))
  // Without keys, because a duplicate key would reject the whole batch.
  const facts = fc
    .sample(aFact, { seed: Number(seed), numRuns: Number(commits) * 2 })
    .map((fact) => ({ ...fact, key: undefined }))
  const acknowledged = openSync(join(directory, 'acknowledged'), 'a')
  const open = () => {
    const opened = openTestWriter(directory)
    opened.ledger.db.pragma(`synchronous = ${synchronous}`)
    return opened
  }
  let writer = open()
  let mark = 0
  const marks: { seq: number; word: string }[] = []

  for (let commit = 0; commit < Number(commits); commit += 1) {
    mark += 1
    const word = `secretword${mark}`
    const more = facts.splice(0, random.below(4))
    const outcome = writer.append(said(`${word} ${'and so on '.repeat(random.below(60))}`), ...more)
    if (outcome.status === 'appended') marks.push({ seq: outcome.rows[0]?.seq ?? 0, word })
    const { seq, hash } = writer.ledger.head()
    writeSync(acknowledged, `head ${seq} ${hash}\n`)
    if (random.chance(0.3)) writer.step(1 + random.below(20))
    if (random.chance(0.02)) {
      const [erased] = marks.splice(random.below(marks.length), 1)
      if (erased) writer.forget(erased.seq)
      if (erased && writer.isSettled()) writeSync(acknowledged, `erased ${erased.seq} ${erased.word}\n`)
    }
    if (random.chance(0.01)) {
      writer.close()
      writer = open()
    }
  }
  writer.close()
}

main(process.argv.slice(2))
