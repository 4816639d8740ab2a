import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openViewsReadOnly } from '../../projections/views.ts'
import { createRandom, type Random } from '../support/random.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { createCutDisk } from './cut-disk.ts'
import { diskEnvironment } from './disk.ts'
import { flawsOf } from './soundness.ts'
import { type DiskOperation, parseTrace } from './trace.ts'

export type PowerOptions = {
  readonly directory: string
  readonly library: string
  readonly rounds: number
  readonly seed: number
  readonly commits: number
  /** The ledger's mode; NORMAL proves that this trial can fail. */
  readonly synchronous?: 'FULL' | 'NORMAL'
  readonly onRound?: (round: number) => void
}

export type PowerReport = {
  readonly rounds: number
  /** Recorded writes, truncations, syncs, created and removed names. */
  readonly operations: number
  readonly syncs: number
  /** Cuts after which acknowledged events were missing. */
  readonly roundsWithLoss: number
  /** The most acknowledged events missing after one cut. */
  readonly mostLost: number
  readonly refusals: number
  readonly viewsRebuilt: number
  readonly flaws: readonly string[]
}

/** Records one run of a ledger and its views on disk, then cuts the power at random moments of it. */
export function cutPower(options: PowerOptions): PowerReport {
  const { directory, rounds, seed } = options
  const random = createRandom(seed)
  const operations = record(options)
  const moments = Array.from({ length: rounds }, () => momentOf(operations, random)).sort((a, b) => a - b)
  const disk = createCutDisk()
  const acknowledged: Acknowledgements = { seq: 0, hash: '', erased: [] }
  const outcomes: Outcome[] = []
  let applied = 0
  for (const [round, moment] of moments.entries()) {
    options.onRound?.(round)
    for (; applied < moment; applied += 1) {
      const operation = operations[applied]
      if (!operation) break
      if (operation.name === 'acknowledged') note(acknowledged, operation)
      else disk.apply(operation)
    }
    const image = join(directory, 'image')
    mkdirSync(image)
    for (const [name, bytes] of disk.cut(random)) writeFileSync(join(image, name), bytes)
    const outcome = examine(image, acknowledged, random)
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
    viewsRebuilt: outcomes.filter(({ rebuilt }) => rebuilt).length,
    flaws: outcomes.flatMap(({ flaws }) => flaws),
  }
}

/** Where to cut: half of the cuts come right after an acknowledgement, the riskiest moment. */
function momentOf(operations: readonly DiskOperation[], random: Random): number {
  const moment = random.below(operations.length + 1)
  const acknowledgedAt = operations.findIndex(({ name }, index) => index >= moment && name === 'acknowledged')
  return random.chance(0.5) && acknowledgedAt >= 0 ? acknowledgedAt + 1 : moment
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

type Acknowledgements = { seq: number; hash: string; erased: string[] }

function note(acknowledged: Acknowledgements, operation: DiskOperation): void {
  if (operation.kind !== 'write') return
  const [what, seq, rest = ''] = operation.bytes.toString().trim().split(' ')
  if (what === 'erased') acknowledged.erased.push(rest)
  else {
    acknowledged.seq = Number(seq)
    acknowledged.hash = rest
  }
}

type Outcome = { lost: number; refused: boolean; rebuilt: boolean; flaws: string[] }

function examine(image: string, acknowledged: Acknowledgements, random: Random): Outcome {
  let writer: ReturnType<typeof openTestWriter>
  try {
    writer = openTestWriter(image)
  } catch (error) {
    return { lost: 0, refused: true, rebuilt: false, flaws: [`refused: ${String(error)}`] }
  }
  const flaws: string[] = []
  const head = writer.ledger.head()
  const lost = Math.max(0, acknowledged.seq - head.seq)
  if (acknowledged.seq > 0 && writer.ledger.hashAt(acknowledged.seq) !== acknowledged.hash)
    flaws.push(`event ${acknowledged.seq} was acknowledged; the ledger ends at ${head.seq}`)
  const views = openViewsReadOnly(image)
  try {
    // The order of appending and catching up must make no difference.
    if (random.chance(0.5)) writer.append(said('after the cut'))
    flaws.push(...flawsOf(writer, views))
    if (writer.append(said('and on')).status !== 'appended') flaws.push('appending fails')
  } finally {
    views.close()
    writer.close()
  }
  const files = ['ledger.sqlite', 'views.sqlite'].map((name) => readFileSync(join(image, name)))
  for (const word of acknowledged.erased)
    if (files.some((bytes) => bytes.includes(`${word} `))) flaws.push(`${word} was erased and is back`)
  const rebuilt = writer.warnings.some(({ message }) => message.includes('rebuilding'))
  return { lost, refused: false, rebuilt, flaws }
}
