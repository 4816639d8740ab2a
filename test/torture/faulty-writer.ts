import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { openTestWriter, said, type TestWriter } from '../support/writer.ts'
import { controlDisk, type DiskControl, type Fault } from './disk.ts'
import { firstWords, flawsOf } from './soundness.ts'

/** What the trial passes to the process on the faulty disk as JSON; the report comes back on stdout. */
export type WriterTrial = {
  /** The watched directory. It must exist; its content is replaced. */
  readonly root: string
  readonly control: string
  readonly fault: Omit<Fault, 'nth'>
  /** The first operation to fail, and the step to the next. */
  readonly first: number
  readonly stride: number
}

export type WriterTrialReport = {
  /** Faults that occurred, one per run. */
  readonly faults: number
  readonly refusedAppends: number
  readonly refusedStarts: number
  /**
   * Runs in which a start after a kill at the fault found a refused append: it was written whole, but its
   * sync failed, and nothing has overwritten it yet.
   */
  readonly refusedButFound: number
  readonly flaws: readonly string[]
}

const APPENDS = 12
const FIRST_WORD = 'word0w'

/** The outcome of each operation in one run of a ledger. */
type Life = {
  acknowledged: { seq: number; hash: string }[]
  kept: string[]
  refused: string[]
  flaws: string[]
  erasedWord: string | null
}

function attempt(life: Life, what: string, work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) life.flaws.push(`${what} threw ${String(error)}`)
    return false
  }
}

/** Appends one fact or several, small or of several pages; records whether they were acknowledged. */
function append(life: Life, writer: TestWriter, index: number): void {
  const word = `word${index}w`
  const size = index % 4 === 3 ? 3000 : 10
  const facts = Array.from({ length: 1 + (index % 3) }, () => said(`${word} ${'and so on '.repeat(size)}`))
  const isKept = attempt(life, 'an append', () => void writer.append(...facts))
  if (isKept) life.acknowledged.push(writer.ledger.head())
  ;(isKept ? life.kept : life.refused).push(word)
}

function live(life: Life, writer: TestWriter): void {
  for (let index = 0; index < APPENDS; index += 1) {
    append(life, writer, index)
    if (index % 5 === 4) attempt(life, 'a step', () => void writer.step(10))
    if (index === APPENDS / 2) {
      const isErased = attempt(life, 'an erasure', () => void writer.forget(1))
      if (isErased) life.acknowledged.push(writer.ledger.head())
      if (isErased && writer.isSettled()) life.erasedWord = FIRST_WORD
    }
  }
}

/** Where the ledger differs from what was acknowledged: lost events, and refused ones that are present. */
function compare(life: Life, writer: TestWriter): { lost: string[]; found: string[] } {
  const words = firstWords(writer.ledger.readAfter(0, Number.MAX_SAFE_INTEGER))
  return {
    lost: [
      ...life.acknowledged
        .filter(({ seq, hash }) => writer.ledger.hashAt(seq) !== hash)
        .map(({ seq }) => `event ${seq} was acknowledged and is lost`),
      // The first event is erased during the run.
      ...life.kept
        .filter((word) => word !== FIRST_WORD && !words.has(word))
        .map((word) => `${word} was acknowledged and is lost`),
    ],
    found: life.refused.filter((word) => words.has(word)),
  }
}

function examine(writer: TestWriter, directory: string): string[] {
  const views = openViewsReadOnly(directory)
  try {
    const flaws = flawsOf(writer, views)
    if (!writer.isSettled()) flaws.push('pending steps do not finish')
    return flaws
  } finally {
    views.close()
  }
}

/** One run in which operation `nth` fails; null if there was no such operation. */
function liveThrough(trial: WriterTrial, disk: DiskControl, nth: number) {
  const { root } = trial
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true })
  const life: Life = { acknowledged: [], kept: [], refused: [], flaws: [], erasedWord: null }
  let refusedStart = false
  let refusedButFound = false
  disk.arm({ ...trial.fault, nth })
  let writer: TestWriter | null = null
  try {
    writer = openTestWriter(root)
  } catch {
    // Any refusal to start is fine if the next start succeeds.
    refusedStart = true
  }
  if (writer) live(life, writer)
  const failed = disk.failed()
  disk.mend()

  // A copy of the files is what a start after a kill at this moment would find.
  const killed = `${root}-killed`
  mkdirSync(killed)
  for (const name of readdirSync(root).filter((name) => /^(ledger|views)\.sqlite(-wal)?$/.test(name)))
    cpSync(join(root, name), join(killed, name))
  const next = openTestWriter(killed)
  const afterKill = compare(life, next)
  refusedButFound = afterKill.found.length > 0
  life.flaws.push(...afterKill.lost.map((each) => `after a kill: ${each}`))
  life.flaws.push(...examine(next, killed).map((each) => `after a kill: ${each}`))
  next.close()
  rmSync(killed, { recursive: true })

  // The same run continues now that the disk works again.
  const mended = writer ?? openTestWriter(root)
  append(life, mended, APPENDS)
  if (life.refused.includes(`word${APPENDS}w`)) life.flaws.push('the ledger does not recover')
  life.flaws.push(...examine(mended, root))
  const { lost, found } = compare(life, mended)
  life.flaws.push(...lost, ...found.map((word) => `${word} was refused but is present`))
  mended.close()
  if (life.erasedWord !== null)
    for (const name of readdirSync(root))
      if (readFileSync(join(root, name)).includes(`${life.erasedWord} `))
        life.flaws.push(`${name} holds what was erased`)
  return { failed, life, refusedStart, refusedButFound }
}

function main(trial: WriterTrial): WriterTrialReport {
  const disk = controlDisk(trial.control)
  const report = { faults: 0, refusedAppends: 0, refusedStarts: 0, refusedButFound: 0, flaws: [] as string[] }
  for (let nth = trial.first; ; nth += trial.stride) {
    const { failed, life, refusedStart, refusedButFound } = liveThrough(trial, disk, nth)
    report.flaws.push(...life.flaws.map((flaw) => `operation ${nth} failing: ${flaw}`))
    if (failed === 0) break
    report.faults += 1
    report.refusedAppends += life.refused.length
    report.refusedStarts += Number(refusedStart)
    report.refusedButFound += Number(refusedButFound)
  }
  disk.close()
  return report
}

process.stdout.write(JSON.stringify(main(JSON.parse(readFileSync(0, 'utf8')))))
