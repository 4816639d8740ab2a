import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openViewsReadOnly } from '../../projections/views.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { createCutDisk } from './cut-disk.ts'
import { diskEnvironment } from './disk.ts'
import { createRandom, type Random } from './random.ts'
import { flawsOf } from './soundness.ts'
import { type DiskOperation, parseTrace } from './trace.ts'

export type PowerOptions = {
  readonly directory: string
  /** Of `buildDisk`. */
  readonly library: string
  readonly rounds: number
  readonly seed: number
  readonly commits: number
  /** What the ledger is opened with; NORMAL, to see that this trial can fail. */
  readonly synchronous?: 'FULL' | 'NORMAL'
  readonly onRound?: (round: number) => void
}

export type PowerReport = {
  readonly rounds: number
  /** Recorded: writes, truncations, syncs, names made and removed. */
  readonly operations: number
  readonly syncs: number
  /** Cuts after which the ledger ended before what had been acknowledged. */
  readonly roundsWithLoss: number
  /** The most acknowledged events that one cut cost. */
  readonly mostLost: number
  readonly refusals: number
  readonly viewsMadeAnew: number
  readonly flaws: readonly string[]
}

/** Records one life of a ledger and its views on disk, then cuts its power at random moments of it. */
export function cutPower(options: PowerOptions): PowerReport {
  const { directory, rounds, seed } = options
  const random = createRandom(seed)
  const operations = record(options)
  const moments = Array.from({ length: rounds }, () => momentOf(operations, random)).sort((a, b) => a - b)
  const disk = createCutDisk()
  const told: Told = { seq: 0, hash: '', erased: [] }
  const outcomes: Outcome[] = []
  let applied = 0
  for (const [round, moment] of moments.entries()) {
    options.onRound?.(round)
    for (; applied < moment; applied += 1) {
      const operation = operations[applied]
      if (!operation) break
      if (operation.name === 'acknowledged') hear(told, operation)
      else disk.apply(operation)
    }
    const image = join(directory, 'image')
    mkdirSync(image)
    for (const [name, bytes] of disk.cut(random)) writeFileSync(join(image, name), bytes)
    const outcome = examine(image, told, random)
    outcomes.push({
      ...outcome,
      flaws: outcome.flaws.map((flaw) => `cut ${round}, after operation ${moment}: ${flaw}`),
    })
    rmSync(image, { recursive: true })
  }
  return {
    rounds,
    operations: operations.length,
    syncs: operations.filter(({ kind }) => kind === 'sync').length,
    roundsWithLoss: outcomes.filter(({ lost }) => lost > 0).length,
    mostLost: Math.max(0, ...outcomes.map(({ lost }) => lost)),
    refusals: outcomes.filter(({ refused }) => refused).length,
    viewsMadeAnew: outcomes.filter(({ madeAnew }) => madeAnew).length,
    flaws: outcomes.flatMap(({ flaws }) => flaws),
  }
}

/** After how many operations to cut: half of them right after an acknowledgement, where the least is left to chance. */
function momentOf(operations: readonly DiskOperation[], random: Random): number {
  const moment = random.below(operations.length + 1)
  const told = operations.findIndex(({ name }, index) => index >= moment && name === 'acknowledged')
  return random.chance(0.5) && told >= 0 ? told + 1 : moment
}

function record({ directory, library, seed, commits, synchronous = 'FULL' }: PowerOptions): DiskOperation[] {
  const root = join(directory, 'recorded')
  const trace = join(directory, 'trace')
  mkdirSync(root)
  const recorder = join(import.meta.dirname, 'power-recorder.ts')
  const ran = spawnSync(process.execPath, [recorder, root, String(seed), String(commits), synchronous], {
    encoding: 'utf8',
    env: { ...process.env, ...diskEnvironment({ library, root, trace }) },
  })
  if (ran.status !== 0) throw new Error(`the recorder ended with ${ran.status}: ${ran.stderr}`)
  return parseTrace(readFileSync(trace))
}

/** What a client had been told when the power went. */
type Told = { seq: number; hash: string; erased: string[] }

function hear(told: Told, operation: DiskOperation): void {
  if (operation.kind !== 'write') return
  const [what, seq, rest = ''] = operation.bytes.toString().trim().split(' ')
  if (what === 'erased') told.erased.push(rest)
  else {
    told.seq = Number(seq)
    told.hash = rest
  }
}

type Outcome = { lost: number; refused: boolean; madeAnew: boolean; flaws: string[] }

function examine(image: string, told: Told, random: Random): Outcome {
  let writer: ReturnType<typeof openTestWriter>
  try {
    writer = openTestWriter(image)
  } catch (error) {
    return { lost: 0, refused: true, madeAnew: false, flaws: [`refused: ${String(error)}`] }
  }
  const flaws: string[] = []
  const head = writer.ledger.head()
  const lost = Math.max(0, told.seq - head.seq)
  if (told.seq > 0 && writer.ledger.hashAt(told.seq) !== told.hash)
    flaws.push(`event ${told.seq} was acknowledged; the ledger ends at ${head.seq}`)
  const views = openViewsReadOnly(image)
  try {
    // Whether it goes on first or settles first must make no difference.
    if (random.chance(0.5)) writer.append(said('after the cut'))
    flaws.push(...flawsOf(writer, views))
    if (writer.append(said('and on')).status !== 'appended') flaws.push('nothing can be appended')
  } finally {
    views.close()
    writer.close()
  }
  const files = ['ledger.sqlite', 'views.sqlite'].map((name) => readFileSync(join(image, name)))
  for (const word of told.erased)
    if (files.some((bytes) => bytes.includes(`${word} `))) flaws.push(`${word} was erased and is back`)
  const madeAnew = writer.warnings.some(({ message }) => message.includes('rebuilding'))
  return { lost, refused: false, madeAnew, flaws }
}
