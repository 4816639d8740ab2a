import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { quantile } from '../../bench/statistics.ts'
import { buildDisk } from '../disk.ts'
import { type FailoverReport, failOver } from '../engine/failovers.ts'
import { killErasures } from '../erasures.ts'
import { failWrites, faultKinds } from '../faults.ts'
import { failService } from '../faulty-service.ts'
import { floodCalls } from '../flooded-call.ts'
import { haltUnderFire } from '../halts.ts'
import { killConversations } from '../kills.ts'
import { cutPower, type PowerReport } from '../power.ts'
import { fillUp } from '../size-limit.ts'
import { IN_MEMORY, inTemporaryDirectory } from '../temporary.ts'
import { loseFiles } from '../witness.ts'

const NO_COMPILER = 'requires a C compiler and Linux'
const CUTS_A_RECORDING = 25
const COMMITS_A_RECORDING = 400
/** Kilobytes that hold little more than the tables. */
const LEAST_LIMIT_BLOCKS = 250

const MESSAGES_TO_ERASE = 90
const KILLS_OF_AN_ERASURE = 3

/** Failovers of one cluster, of which each has the directories and databases to itself. */
const FAILOVERS_A_CLUSTER = 50

/** Sockets in one flood, and the most that are open at once. */
const FLOOD = { sockets: 10_000, atOnce: 2_000 }

const trials = {
  /** Ignores `--rounds`. */
  sockets: () => inTemporaryDirectory(async (directory) => sound(await floodCalls({ directory, ...FLOOD }))),
  kills: (rounds: number, seed: number) =>
    inTemporaryDirectory(async (directory) => {
      const { talk: _talk, ...report } = sound(await killConversations({ directory, rounds, seed, onRound }))
      return report
    }),
  halts: (rounds: number, seed: number) =>
    inTemporaryDirectory(async (directory) =>
      sound(await haltUnderFire({ directory, rounds, seed, onRound })),
    ),
  /** Each cluster has a seed of its own, so `--seed` should differ by more than the number of clusters. */
  async engine(rounds: number, seed: number) {
    const reports: Omit<FailoverReport, 'flaws'>[] = []
    for (let done = 0; done < rounds; done += FAILOVERS_A_CLUSTER) {
      const report = await inTemporaryDirectory(async (directory) =>
        sound(
          await failOver({
            directory,
            rounds: Math.min(FAILOVERS_A_CLUSTER, rounds - done),
            seed: seed + done / FAILOVERS_A_CLUSTER,
            onRound: (round, fault) => process.stderr.write(`  round ${done + round}: ${fault}\n`),
          }),
        ),
      )
      reports.push(report)
      // What was found so far, should a later cluster find a flaw.
      process.stderr.write(`${JSON.stringify(sumOf([report]))}\n`)
    }
    return sumOf(reports)
  },
  /** A fifth of the rounds, because each starts the service five times or more. */
  erasures: (rounds: number, seed: number) =>
    inTemporaryDirectory(async (directory) =>
      sound(
        await killErasures({
          directory,
          rounds: Math.ceil(rounds / 5),
          seed,
          messages: MESSAGES_TO_ERASE,
          kills: KILLS_OF_AN_ERASURE,
          onRound,
        }),
      ),
    ),
  /** A fifth of the rounds, because each starts the service two or three times and repeats every message. */
  witness: (rounds: number, seed: number) =>
    inTemporaryDirectory(async (directory) =>
      sound(await loseFiles({ directory, rounds: Math.ceil(rounds / 5), seed, onRound })),
    ),
  async power(rounds: number, seed: number) {
    const reports: Omit<PowerReport, 'flaws'>[] = []
    for (let done = 0; done < rounds; done += CUTS_A_RECORDING) {
      onRound(done)
      const report = await inTemporaryDirectory((directory) => {
        const library = buildDisk(directory)
        if (library === null) return null
        return sound(
          cutPower({
            directory,
            library,
            rounds: Math.min(CUTS_A_RECORDING, rounds - done),
            seed: seed + done,
            commits: COMMITS_A_RECORDING,
          }),
        )
      }, IN_MEMORY)
      if (report === null) return { skipped: NO_COMPILER }
      reports.push(report)
    }
    const sum = (of: (report: (typeof reports)[number]) => number) =>
      reports.reduce((total, each) => total + of(each), 0)
    return {
      rounds,
      recordings: reports.length,
      operations: sum(({ operations }) => operations),
      syncs: sum(({ syncs }) => syncs),
      roundsWithLoss: sum(({ roundsWithLoss }) => roundsWithLoss),
      viewsRebuilt: sum(({ viewsRebuilt }) => viewsRebuilt),
    }
  },
  /** Fails each file operation in turn, ignoring `--rounds`; one kind of fault per processor. */
  async writes() {
    const reports: Record<string, unknown> = {}
    // The workers share one iterator.
    const kinds = Object.entries(faultKinds).values()
    const tryKinds = async () => {
      for (const [name, fault] of kinds) {
        process.stderr.write(`  ${name}\n`)
        reports[name] = await inTemporaryDirectory(async (directory) => {
          const library = buildDisk(directory)
          return library && sound(await failWrites({ directory, library, fault, first: 1, stride: 1 }))
        }, IN_MEMORY)
      }
    }
    await Promise.all(Array.from({ length: availableParallelism() }, tryKinds))
    return { kinds: reports }
  },
  async service(rounds: number, seed: number) {
    const kinds = Object.entries(faultKinds)
    const reports: Record<string, unknown> = {}
    for (const [name, fault] of kinds) {
      process.stderr.write(`  ${name}\n`)
      reports[name] = await inTemporaryDirectory(async (directory) => {
        const library = buildDisk(directory)
        const options = { directory, rounds: Math.ceil(rounds / kinds.length), seed, fault }
        return library && sound(await failService({ ...options, library }))
      })
    }
    return { kinds: reports }
  },
  async sizes(rounds: number) {
    let acknowledged = 0
    let refused = 0
    for (let round = 0; round < rounds; round += 1) {
      onRound(round)
      const limitBlocks = LEAST_LIMIT_BLOCKS + round * 5
      const report = await inTemporaryDirectory(
        (directory) => sound(fillUp(directory, limitBlocks)),
        IN_MEMORY,
      )
      acknowledged += report.acknowledged
      refused += report.refused
    }
    return { rounds, acknowledged, refused }
  },
}

/** Several reports as one: counts are added up, and the times of takeovers are kept, for other sums. */
function sumOf(reports: readonly Omit<FailoverReport, 'flaws'>[]) {
  const sums: Record<string, number | Record<string, number>> = {}
  for (const { takeovers: _takeovers, ...counts } of reports)
    for (const [name, value] of Object.entries(counts)) {
      const entries = typeof value === 'number' ? { '': value } : value
      for (const [part, count] of Object.entries(entries)) {
        if (part === '') sums[name] = Number(sums[name] ?? 0) + count
        else {
          const inner = (sums[name] ?? {}) as Record<string, number>
          sums[name] = { ...inner, [part]: (inner[part] ?? 0) + count }
        }
      }
    }
  const all = reports.flatMap(({ takeovers }) => takeovers)
  const takeovers = [...Map.groupBy(all, ({ how, leaseMs }) => `${how}, lease ${leaseMs / 1000} s`)]
  return {
    ...sums,
    takeovers: Object.fromEntries(
      takeovers.map(([name, group]) => {
        const ms = group.map((each) => each.ms).sort((a, b) => a - b)
        return [name, { p50: quantile(ms, 0.5), p99: quantile(ms, 0.99), max: ms.at(-1), ms }]
      }),
    ),
  }
}

/** The report without `flaws`; throws if there are any. */
function sound<T extends { readonly flaws: readonly string[] }>(report: T): Omit<T, 'flaws'> {
  const { flaws, ...rest } = report
  if (flaws.length > 0) throw new Error(flaws.join('\n'))
  return rest
}

/** `npm run torture -- --rounds 200 --seed 1 --only kills`: breaks things for minutes and prints a report. */
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
