import fc from 'fast-check'
import { type EventRow, GENESIS_HASH } from '../../../ledger/codec.ts'
import type { Head } from '../../../ledger/reader.ts'
import { verifyLink } from '../../../ledger/verify.ts'
import { createTables } from '../../../scripts/lib/engine.ts'
import { createRemote } from '../../../src/storage/postgres/remote.ts'
import { optionsFor, startDatabases } from '../../support/database.ts'
import { testDirectory } from '../../support/directory.ts'
import { survey } from '../../torture/soundness.ts'
import { faults, openTrial, type Step } from './append-trial.ts'

const aStep: fc.Arbitrary<Step> = fc.record({
  fault: fc.constantFrom(...faults),
  batches: fc.array(fc.record({ facts: fc.integer({ min: 1, max: 3 }), hasKey: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
  }),
  erases: fc.boolean(),
  lateMs: fc.nat(800),
})

const batches = [
  { facts: 1, hasKey: true },
  { facts: 2, hasKey: false },
]
/** Each fault once, in a few runs. */
const everyFault: [Step[]][] = [0, 1, 2].map((part) => [
  faults
    .filter((_, index) => index % 3 === part)
    .map((fault, index) => ({ fault, batches, erases: index === 2, lateMs: 450 })),
])

/**
 * Appends groups while everything goes wrong, and afterwards compares what was acknowledged with PostgreSQL, and
 * PostgreSQL with the directory. Rejects with the first run that is not sound.
 */
export async function checkAppends(numRuns: number): Promise<void> {
  const databases = await startDatabases()
  const { primary } = databases
  const options = optionsFor(primary, 'check', { leaseMs: 8_000 })
  await createTables(options)
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 1, maxLength: 4 }), async (steps) => {
      const here = testDirectory()
      const trial = await openTrial(databases, { here, there: testDirectory })
      for (const step of steps) await trial.append(step)
      await trial.finish()
      const remote = createRemote(options, trial.ledgerId)
      const rows = await remote.rowsAfter(0, 10_000)
      remote.close()
      const flaws = [...trial.flaws, ...flawsOf(rows, trial), ...survey(here).flaws]
      const { head } = survey(here)
      if (rows[head.seq - 1]?.hash !== head.hash || rows.length !== head.seq)
        flaws.push(`the directory ends with ${head.seq}, PostgreSQL with ${rows.length}`)
      if (flaws.length > 0) throw new Error(flaws.join('\n'))
    }),
    { numRuns: everyFault.length + numRuns, examples: everyFault, endOnFailure: true },
  )
}

function flawsOf(
  rows: readonly EventRow[],
  trial: {
    readonly acknowledged: readonly string[]
    readonly refused: readonly string[]
    hasErased(): boolean
  },
): string[] {
  const flaws: string[] = []
  let head: Head = { seq: 0, hash: GENESIS_HASH }
  for (const row of rows) head = verifyLink(head, row)
  const texts = rows.flatMap(({ body }) => (body === null ? [] : [String(JSON.parse(body).text)]))
  const lost = trial.acknowledged.filter((text) => !texts.includes(text) && text !== 'text 0')
  flaws.push(...lost.map((text) => `${text} was acknowledged and is lost`))
  const recorded = trial.refused.filter((text) => texts.includes(text))
  flaws.push(...recorded.map((text) => `${text} was refused as not recorded, and is there`))
  if (new Set(texts).size < texts.length) flaws.push(`there twice: ${texts.join()}`)
  const [first] = rows
  if (trial.hasErased() && first?.body !== null) flaws.push('what was erased is still in PostgreSQL')
  return flaws
}
