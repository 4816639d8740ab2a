import { copyFileSync, cpSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ledgerFile, openLedgerReadOnly, viewsFile } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { headFile } from '../../ledger/witness.ts'
import { createClient } from '../http/client.ts'
import { runScript } from '../scripts/run-script.ts'
import { createRandom, type Random } from '../support/random.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'
import { survey } from './soundness.ts'
import { type Acknowledged, type Message, messageOf, say } from './talk.ts'

export type WitnessOptions = {
  readonly directory: string
  readonly rounds: number
  readonly seed: number
  readonly onRound?: (round: number) => void
}

export type WitnessReport = {
  readonly rounds: number
  readonly acknowledged: number
  /** Rounds in which a running service lost its log. */
  readonly amidRuns: number
  /** Services that saved their log and exited by themselves. */
  readonly ended: number
  /** Starts that found every event. */
  readonly whole: number
  /** Starts that were refused: for missing events, and for damage. */
  readonly refused: number
  readonly damaged: number
  readonly accepted: number
  readonly flaws: readonly string[]
}

const PASSWORD = 'a long walk by the river'
const MESSAGES_A_ROUND = 3
/** Longer than an idle service takes to notice. */
const LONGEST_WAIT_MS = 2500

type Older = { readonly ledger: string; readonly log: string }

const remove = (directory: string, ...suffixes: string[]) => {
  for (const suffix of suffixes) rmSync(`${ledgerFile(directory)}${suffix}`, { force: true })
}

/** Ways to damage the files of a ledger. */
const damage = {
  'log removed': (directory) => remove(directory, '-wal'),
  'index removed': (directory) => remove(directory, '-shm'),
  'log and index removed': (directory) => remove(directory, '-wal', '-shm'),
  'older log in its place'(directory, older) {
    copyFileSync(older.log, `${older.log}.copy`)
    renameSync(`${older.log}.copy`, `${ledgerFile(directory)}-wal`)
  },
  'older log written over it': (directory, older) => copyFileSync(older.log, `${ledgerFile(directory)}-wal`),
  'older ledger in its place'(directory, older) {
    remove(directory, '', '-wal', '-shm')
    copyFileSync(older.ledger, ledgerFile(directory))
  },
} satisfies Record<string, (directory: string, older: Older) => void>

const kinds = Object.keys(damage) as (keyof typeof damage)[]

/** Each kind, after a kill and while the service runs. */
const occasions = kinds.flatMap((kind) => [false, true].map((isRunning) => ({ kind, isRunning })))

/**
 * Loses or exchanges files of the ledger in each round. The next start must have every acknowledged event, or
 * refuse and name the number of missing events. Then the files are restored or the loss is accepted.
 */
export async function loseFiles(options: WitnessOptions): Promise<WitnessReport> {
  const { rounds, seed } = options
  const random = createRandom(seed)
  const directory = join(options.directory, 'data')
  const before = join(options.directory, 'before')
  const older: Older = { ledger: join(options.directory, 'older'), log: join(options.directory, 'older-wal') }
  mkdirSync(directory)
  const flaws: string[] = []
  const count = { acknowledged: 0, amidRuns: 0, ended: 0, whole: 0, refused: 0, damaged: 0, accepted: 0 }
  let answered: Acknowledged[] = []
  let messages = 0
  let service = startServiceProcess(directory)
  let client = createClient(await service.listening)
  await client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode() })
  const cookie = client.cookie()

  async function talk(): Promise<void> {
    for (let index = 0; index < MESSAGES_A_ROUND; index += 1) await sayOne()
  }

  async function sayOne(): Promise<void> {
    const message: Message = messageOf(messages, random)
    messages += 1
    const answer = await say(client, message)
    if (!answer) return
    answered.push(answer)
    count.acknowledged += 1
  }

  /** Starts the service; resolves to its output if it exits, else to null. */
  async function start(): Promise<string | null> {
    service = startServiceProcess(directory)
    try {
      client = createClient(await service.listening)
      client.useCookie(cookie)
      return null
    } catch {
      return service.output()
    }
  }

  /** Every answered message must get the same answer again. */
  async function expectAll(what: string): Promise<void> {
    for (const each of answered) {
      const again = await say(client, each.message)
      if (again?.turnId !== each.turnId) flaws.push(`${what}: “${each.message.text}” is silently lost`)
    }
  }

  async function putBack(what: string): Promise<void> {
    rmSync(directory, { recursive: true })
    cpSync(before, directory, { recursive: true })
    const refusal = await start()
    if (refusal !== null) throw new Error(`${what}: the files that were put back are refused: ${refusal}`)
    await expectAll(`${what}, put back`)
  }

  async function accept(what: string, missing: string): Promise<void> {
    const accepted = await runScript('ledger-accept-loss', directory, ['--events', missing])
    if (accepted.code !== 0) flaws.push(`${what}: the loss is not accepted: ${accepted.err}`)
    answered = []
    count.accepted += 1
    const refusal = await start()
    if (refusal !== null) throw new Error(`${what}: refused after the loss was accepted: ${refusal}`)
  }

  async function nextStart(what: string, knownSeq: number): Promise<void> {
    const refusal = await start()
    if (refusal === null) {
      count.whole += 1
      return expectAll(what)
    }
    const missing = missingIn(refusal)
    if (missing === null) {
      if (!refusal.includes('is damaged') && !refusal.includes('missing')) flaws.push(`${what}: ${refusal}`)
      count.damaged += 1
      return putBack(what)
    }
    if (missing.lastSeq !== null && missing.lastSeq < knownSeq)
      flaws.push(`${what}: event ${knownSeq} was acknowledged, and only ${refusal}`)
    count.refused += 1
    return random.chance(0.5) ? putBack(what) : accept(what, missing.events)
  }

  const order = shuffled(occasions, random)
  for (let round = 0; round < rounds; round += 1) {
    options.onRound?.(round)
    const { kind, isRunning } = order[round % order.length] ?? { kind: 'log removed', isRunning: false }
    const what = `round ${round}, ${kind}${isRunning ? ' while it ran' : ''}`
    await talk()
    copyFileSync(ledgerFile(directory), older.ledger)
    copyFileSync(`${ledgerFile(directory)}-wal`, older.log)
    await talk()
    const knownSeq = headSeqOf(directory)
    if (!isRunning) await service.kill()
    rmSync(before, { recursive: true, force: true })
    cpSync(directory, before, { recursive: true })
    damage[kind](directory, older)
    if (isRunning) {
      count.amidRuns += 1
      if (random.chance(0.5)) await sayOne()
      await wait(random.next() * LONGEST_WAIT_MS, service)
      if (service.child.exitCode !== null) {
        count.ended += 1
        if (!/moved, deleted or replaced/.test(service.output()))
          flaws.push(`${what}: the service exited: ${service.output()}`)
      }
      await service.kill()
    } else loseWitness(directory, random)
    await nextStart(what, knownSeq)
  }
  await service.stop()
  flaws.push(...survey(directory).flaws)
  return { rounds, ...count, flaws }
}

function shuffled<T>(from: readonly T[], random: Random): T[] {
  const left = [...from]
  return from.flatMap(() => left.splice(random.below(left.length), 1))
}

/** Sometimes removes a witness too. */
function loseWitness(directory: string, random: Random): void {
  const chance = random.next()
  if (chance < 0.3)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${viewsFile(directory)}${suffix}`, { force: true })
  else if (chance < 0.6) rmSync(headFile(directory))
}

/** What the output says is missing; null if it says something else. */
function missingIn(refusal: string): { readonly events: string; readonly lastSeq: number | null } | null {
  const counted = /(\d+) events? (?:is|are) missing \(seq (?:\d+ to )?(\d+)\)/.exec(refusal)
  if (counted?.[1] && counted[2]) return { events: counted[1], lastSeq: Number(counted[2]) }
  return refusal.includes('the ledger is a different or an older one')
    ? { events: 'unknown', lastSeq: null }
    : null
}

function headSeqOf(directory: string): number {
  const db = openLedgerReadOnly(directory)
  try {
    return createReader(db).head().seq
  } finally {
    db.close()
  }
}

/** Waits for this time, or until the service has exited. */
function wait(ms: number, { child }: ServiceProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    if (child.exitCode === null) child.once('exit', () => resolve(clearTimeout(timer)))
  })
}
