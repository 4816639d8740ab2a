import { parseArgs } from 'node:util'
import { buildDisk } from '../disk.ts'
import { killConversations } from '../kills.ts'
import { cutPower, type PowerReport } from '../power.ts'
import { IN_MEMORY, inTemporaryDirectory } from '../temporary.ts'

/** Cuts of one recorded life of a ledger. */
const CUTS_A_RECORDING = 25
const COMMITS_A_RECORDING = 400

const trials = {
  kills: (rounds: number, seed: number) =>
    inTemporaryDirectory(async (directory) => {
      const { talk, ...report } = await killConversations({ directory, rounds, seed, onRound })
      if (report.flaws.length > 0) throw new Error(report.flaws.join('\n'))
      return report
    }),
  async power(rounds: number, seed: number) {
    const reports: PowerReport[] = []
    for (let done = 0; done < rounds; done += CUTS_A_RECORDING) {
      onRound(done)
      const report = await inTemporaryDirectory((directory) => {
        const library = buildDisk(directory)
        if (library === null) return null
        const found = cutPower({
          directory,
          library,
          rounds: Math.min(CUTS_A_RECORDING, rounds - done),
          seed: seed + done,
          commits: COMMITS_A_RECORDING,
        })
        if (found.flaws.length > 0) throw new Error(found.flaws.join('\n'))
        return found
      }, IN_MEMORY)
      if (report === null) return { skipped: 'there is no C compiler here, or no Linux' }
      reports.push(report)
    }
    const sum = (of: (report: PowerReport) => number) => reports.reduce((total, each) => total + of(each), 0)
    return {
      rounds,
      recordings: reports.length,
      operations: sum(({ operations }) => operations),
      syncs: sum(({ syncs }) => syncs),
      roundsWithLoss: sum(({ roundsWithLoss }) => roundsWithLoss),
      viewsMadeAnew: sum(({ viewsMadeAnew }) => viewsMadeAnew),
    }
  },
}

/** `npm run torture -- --rounds 200 --seed 1 --only kills`: breaks things for minutes, and prints what came of it. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '200' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', multiple: true, default: Object.keys(trials) },
    },
  })
  for (const [name, run] of Object.entries(trials)) {
    if (!values.only.includes(name)) continue
    const startedAtMs = performance.now()
    const report = await run(Number(values.rounds), Number(values.seed))
    const seconds = Math.round((performance.now() - startedAtMs) / 1000)
    process.stdout.write(
      `${JSON.stringify({ trial: name, seed: Number(values.seed), seconds, ...report })}\n`,
    )
  }
}

function onRound(round: number): void {
  if (round > 0 && round % 20 === 0) process.stderr.write(`  round ${round}\n`)
}

await main()
