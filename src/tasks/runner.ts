import { setTimeout as pause } from 'node:timers/promises'
import { LedgerUnavailable, messageOf } from '../../ledger/errors.ts'
import type { TaskRow } from '../../projections/tasks.ts'
import { english } from '../language/message.ts'
import { type Account, type Program, type ProgramExit, startProgram } from '../lib/program.ts'
import { createReactor } from '../lib/reactor.ts'
import { oneLine } from '../lib/shorten.ts'
import { MAX_PROGRESS } from './callback.ts'
import { cleanText, endOf } from './clean-text.ts'
import type { Isolation, IsolationState } from './isolation.ts'
import { type FailureKind, outcomeFact, progressFact, type TaskOutcome } from './task-facts.ts'
import { DATA_DIR_VARIABLE, endOrphans, TASK_ID_VARIABLE } from './task-process.ts'
import type { TaskStore } from './task-store.ts'

type Running = {
  readonly process: Program
  readonly timers: NodeJS.Timeout[]
  readonly done: Promise<void>
  /** How the task ended, as far as the runner knows. It decides even if it cannot be recorded yet. */
  outcome: TaskOutcome | null
}

/** From SIGTERM to SIGKILL. */
const KILL_GRACE_MS = 3_000
/** The assistant may still have to clean up after its session has ended. */
const LET_GO_MS = 20_000
/** Minimum interval between progress reports of a program's output. */
const OUTPUT_EVERY_MS = 10_000
const OUTPUT_CHARS = 500
const RETRY_AFTER_FAULT_MS = 1_000
/** How often to look for a halt while a program runs. */
const LOOK_FOR_HALT_MS = 1_000
const NOT_STARTED = english`It is not certain that its start was recorded, so the task was not started.`
const INTERRUPTED = english`The service stopped while the task was running.`

/**
 * Runs queued tasks in order, at most `limit` at a time. Each start is recorded before the process is
 * spawned. After a crash, a started task has failed and is not restarted.
 */
export function createTaskRunner(options: {
  readonly store: TaskStore
  /** Program and arguments; null if no coding assistant is set up. */
  readonly command: readonly string[] | null
  readonly environment: () => Readonly<Record<string, string>>
  /** The real path of the ledger's directory. Identifies our processes, along with the task id. */
  readonly dataDir: string
  /**
   * The working directory, created if missing, for the given account. Throws an error whose message is shown to
   * the owner.
   */
  readonly directory: (account: Account | null) => string
  readonly isolation: () => Promise<Isolation>
  readonly callbackUrl: () => string
  readonly limit: () => number
  /** After an import or a restore, or while halted, nothing starts until the owner releases it. */
  readonly isHeld: () => boolean
  /** While halted, running tasks are cancelled. */
  readonly isHalted: () => boolean
  /** Whether a halt waits to be recorded. */
  readonly isHaltPending: () => boolean
  /** False once another node may have taken over. */
  readonly mayAct: () => boolean
  readonly cancel: (taskId: string) => Promise<unknown>
  /** Removes the service's secrets, which a program could print. */
  readonly mask: (text: string) => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
  /** For tests: the length of a minute of the time limit. */
  readonly minuteMs?: number
  readonly outputEveryMs?: number
}) {
  const { append, tasks, onHeadMoved, wordsOf } = options.store
  const { nowMs, minuteMs = 60_000, outputEveryMs = OUTPUT_EVERY_MS } = options
  const running = new Map<string, Running>()
  let closing = false
  let recovered = false
  const reactor = createReactor<TaskRow | 'recover'>({
    onHeadMoved,
    areas: ['task', 'ledger', 'outbound', 'delegation'],
    next: () => (recovered ? nextTask() : 'recover'),
    async run(work) {
      if (work === 'recover') await recover()
      else if (work.status === 'queued') await begin(work)
      else if (options.isHalted()) await options.cancel(work.taskId)
      else await fail(work.taskId, 'interrupted', NOT_STARTED)
    },
    onFault: options.onFault,
  })

  function nextTask(): TaskRow | undefined {
    if (options.isHalted()) return tasks.running()[0]
    // Its start was recorded, although that was reported as failed.
    const lost = tasks.running().find(({ taskId }) => !running.has(taskId))
    if (lost) return lost
    if (options.isHeld() || running.size >= options.limit()) return undefined
    return tasks.queued()[0]
  }

  /** Fails tasks that a crash interrupted, and ends processes left over from any task. */
  async function recover(): Promise<void> {
    // A task may have restarted this service. Ending its process would end the service too.
    const within = options.environment()[TASK_ID_VARIABLE]
    await endOrphans(options.dataDir, (taskId) => taskId !== within && tasks.byId(taskId) !== undefined)
    for (const { taskId } of tasks.running()) await fail(taskId, 'interrupted', INTERRUPTED)
    recovered = true
  }

  async function begin(row: TaskRow): Promise<void> {
    const { taskId } = row
    const { prompt } = wordsOf(row)
    if (prompt === '') return fail(taskId, 'spawn', english`The prompt was erased.`)
    if (options.command === null) return fail(taskId, 'not_configured', english`COPILOT_COMMAND is not set.`)
    const isolation = await options.isolation()
    const { way, account } = isolation
    if (way === null) return fail(taskId, 'isolation', sentenceOf(isolation))
    let directory: string
    try {
      directory = options.directory(account)
    } catch (error) {
      const text = english`The working directory is not available. ${messageOf(error)}`
      return fail(taskId, 'spawn', text)
    }
    const intent = await append(taskId, [
      progressFact(row, 'started', startText(isolation), { key: `task-started:${taskId}`, isolation: way }),
    ])
    if (intent.status === 'duplicate') return
    // Halted since, so the next step cancels it.
    if (options.isHalted()) return
    if (!options.mayAct()) return fail(taskId, 'interrupted', INTERRUPTED)
    const callbackUrl = options.callbackUrl()
    const started = await startProgram({
      command: isolation.wrap(withTask(options.command, { prompt, taskId, callbackUrl })),
      directory,
      account,
      environment: {
        ...options.environment(),
        ...isolation.environment,
        [TASK_ID_VARIABLE]: taskId,
        [DATA_DIR_VARIABLE]: options.dataDir,
        DELEGATE_CALLBACK_URL: callbackUrl,
        DELEGATE_TASK_PROMPT: prompt,
      },
      input: prompt,
    })
    if (started.status === 'failed') {
      return fail(taskId, 'spawn', english`COPILOT_COMMAND could not be started (${started.reason}).`)
    }
    watch(row, started.process)
    // The task may have been cancelled, or the runner closed, meanwhile.
    if (closing || tasks.byId(taskId)?.status !== 'running') end(taskId, null)
    const running = { key: `task-running:${taskId}`, pid: started.process.pid }
    await append(taskId, [progressFact(row, 'started', english`Running`, running)])
  }

  function watch(row: TaskRow, process: Program): void {
    const { taskId, timeoutMinutes } = row
    const limit = setTimeout(() => {
      const text = english`The task timed out after ${timeoutMinutes} min.\n${outputOf(taskId)}`
      const outcome = { status: 'failed', kind: 'timeout', exitCode: null, text } as const
      end(taskId, outcome)
      conclude(taskId, outcome).catch(options.onFault)
    }, timeoutMinutes * minuteMs)
    // The reactor cancels the task, but it waits for the ledger, which may take no fact.
    const halt = setInterval(() => {
      if (options.isHaltPending()) end(taskId, { status: 'cancelled', by: 'owner' })
    }, LOOK_FOR_HALT_MS)
    let shown = ''
    const progress = setInterval(() => {
      const { stdout, stderr } = written(process)
      const text = endOf(oneLine(stdout || stderr), OUTPUT_CHARS)
      if (text !== shown) reportOutput(taskId, text).catch(options.onFault)
      shown = text
    }, outputEveryMs)
    const done = process.exit
      .then(async (exit) => {
        // Some may have left the group.
        await endOrphans(options.dataDir, (each) => each === taskId)
        await exited(taskId, exit, process)
      })
      .catch(options.onFault)
      .finally(() => {
        for (const timer of running.get(taskId)?.timers ?? []) clearTimeout(timer)
        running.delete(taskId)
        reactor.wake()
      })
    running.set(taskId, { process, timers: [limit, halt, progress], done, outcome: null })
  }

  /** The output so far, masked before any part is cut off, because half a secret would not be recognised. */
  function written(process: Program): { readonly stdout: string; readonly stderr: string } {
    const { stdout, stderr } = process.output()
    return { stdout: options.mask(cleanText(stdout)), stderr: options.mask(cleanText(stderr)) }
  }

  /** The exit is the outcome, unless there is one already. */
  async function exited(taskId: string, { code, signal }: ProgramExit, process: Program): Promise<void> {
    const { stdout, stderr } = written(process)
    if (closing) {
      return fail(taskId, 'interrupted', `${INTERRUPTED}\n${stdout}`, code)
    }
    if (code === 0) {
      return conclude(taskId, { status: 'finished', source: 'exit', exitCode: 0, text: stdout || stderr })
    }
    const how = signal === null ? '' : english`Terminated by ${signal}.`
    const text = [how, stdout, stderr].filter((part) => part.trim() !== '').join('\n')
    return fail(taskId, 'exit', text, code)
  }

  const fail = (taskId: string, kind: FailureKind, text: string, exitCode: number | null = null) =>
    conclude(taskId, { status: 'failed', kind, exitCode, text })

  /** Records an outcome if there is none yet. Retries while the ledger is unavailable. */
  async function conclude(taskId: string, latest: TaskOutcome): Promise<void> {
    const outcome = decide(taskId, latest)
    for (let tries = 0; ; tries += 1) {
      const row = tasks.byId(taskId)
      if (row?.status !== 'queued' && row?.status !== 'running') return
      try {
        await append(taskId, [outcomeFact(row, outcome, nowMs())])
        return
      } catch (error) {
        // The next start records a task without an outcome as interrupted.
        if (!(error instanceof LedgerUnavailable) || (closing && tries > 0)) throw error
        options.onFault(error)
        await pause(RETRY_AFTER_FAULT_MS)
      }
    }
  }

  async function reportOutput(taskId: string, text: string): Promise<void> {
    const row = tasks.byId(taskId)
    if (row?.status !== 'running' || row.progressCount >= MAX_PROGRESS) return
    await append(taskId, [progressFact(row, 'output', text)])
  }

  /** The first outcome of a running task. */
  function decide(taskId: string, latest: TaskOutcome): TaskOutcome {
    const entry = running.get(taskId)
    if (!entry) return latest
    entry.outcome ??= latest
    return entry.outcome
  }

  /**
   * Ends the process of a task. At its exit, records `outcome` if there is none by then; null if it is recorded.
   * False if there is no process.
   */
  function end(taskId: string, outcome: TaskOutcome | null): boolean {
    const entry = running.get(taskId)
    if (!entry) return false
    if (outcome) decide(taskId, outcome)
    entry.process.end(KILL_GRACE_MS).catch(options.onFault)
    return true
  }

  /** The output of a task's process so far. */
  function outputOf(taskId: string): string {
    const entry = running.get(taskId)
    return entry ? written(entry.process).stdout : ''
  }

  return {
    /** Records tasks that a crash interrupted, then runs queued tasks. */
    start: reactor.start,
    /** Checks again which tasks may run, for example after the limit was raised. */
    wake: reactor.wake,
    end,
    /** Ends the process of a finished task after LET_GO_MS. */
    letGo(taskId: string): void {
      running.get(taskId)?.timers.push(setTimeout(() => end(taskId, null), LET_GO_MS))
    },
    outputOf,
    /** Ends running processes and records their tasks as interrupted. */
    async close(): Promise<void> {
      closing = true
      await reactor.close()
      await Promise.all(
        [...running.values()].map(async ({ process, done }) => {
          await process.end(KILL_GRACE_MS)
          await done
        }),
      )
    },
  }
}

const sentenceOf = ({ reason, remedy }: IsolationState) => [reason, remedy].join(' ')

const startText = (isolation: IsolationState) =>
  isolation.way === 'none' ? english`Started, not isolated. ${sentenceOf(isolation)}` : english`Started`

/**
 * Fills the placeholders of the command, and appends the prompt if there is none for it. A prompt that begins
 * with a dash gets a leading space, so that the program does not take it for an option.
 */
function withTask(
  command: readonly string[],
  task: { readonly prompt: string; readonly taskId: string; readonly callbackUrl: string },
): string[] {
  const prompt = task.prompt.startsWith('-') ? ` ${task.prompt}` : task.prompt
  const values: Readonly<Record<string, string>> = {
    '{prompt}': prompt,
    '{taskId}': task.taskId,
    '{callbackUrl}': task.callbackUrl,
  }
  const [program = '', ...args] = command
  const filled = args.map((arg) =>
    arg.replace(/\{(?:prompt|taskId|callbackUrl)\}/g, (place) => values[place] ?? place),
  )
  const isNamed = args.some((arg) => arg.includes('{prompt}'))
  return isNamed ? [program, ...filled] : [program, ...filled, prompt]
}
