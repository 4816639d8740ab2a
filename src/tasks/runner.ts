import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Appended, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { TaskQueries, TaskRow } from '../../projections/tasks.ts'
import { createProgressGuard } from '../progress.ts'
import { MAX_PROGRESS } from './callback.ts'
import { cleanText, endOf, oneLine } from './clean-text.ts'
import { outcomeFact, type TaskOutcome } from './outcome.ts'
import {
  DATA_DIR_VARIABLE,
  endOrphans,
  startTaskProcess,
  TASK_ID_VARIABLE,
  type TaskExit,
  type TaskProcess,
} from './task-process.ts'

export type TaskRunner = {
  /** Records what a crash cut off, then runs what waits, and each task as it is dispatched. */
  start(): void
  /** Looks again for what may run: a limit was raised, a hold was released. */
  wake(): void
  /** Ends the process of a task, if it has one. What became of the task is recorded by the caller, before. */
  end(taskId: string): void
  /** Leaves the process of an ended task a little time to go by itself. */
  letGo(taskId: string): void
  /** What the process of a task has written so far. */
  outputOf(taskId: string): string
  /** Starts nothing new, ends what runs and records it as cut off. */
  close(): Promise<void>
}

type Running = {
  readonly process: TaskProcess
  readonly timers: NodeJS.Timeout[]
  readonly done: Promise<void>
}

/** From SIGTERM to SIGKILL. */
const KILL_GRACE_MS = 3_000
/** After its session has ended, the assistant itself may still have something to put in order. */
const LET_GO_MS = 20_000
/** What a program writes is shown as progress at most this often. */
const OUTPUT_EVERY_MS = 10_000
const OUTPUT_CHARS = 500
const RETRY_AFTER_FAULT_MS = 1_000

/**
 * Runs the tasks that have no outcome yet, in their order, so many at once as the limit says. That a task is started is
 * a fact before its process is; after a crash a started one is never started again, it has failed, visibly.
 */
export function createTaskRunner(options: {
  readonly append: (taskId: string, events: readonly NewEvent[]) => Promise<Appended>
  readonly ledger: LedgerReader
  readonly tasks: TaskQueries
  readonly onHeadMoved: SubscribeHead
  /** Program and arguments; null where no coding assistant is set up. */
  readonly command: readonly string[] | null
  readonly environment: () => Readonly<Record<string, string>>
  /** Where the ledger lies, by its real path: whose the tasks are, for a copy has them too. */
  readonly dataDir: string
  /** Where the assistant works; made where it is not there. Throws with a sentence for the owner. */
  readonly directory: () => string
  readonly callbackUrl: () => string
  readonly limit: () => number
  /** After an import or a restore nothing starts until the owner says so. */
  readonly isHeld: () => boolean
  /** Without the service's secrets: a program can print what it should not know. */
  readonly mask: (text: string) => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
  /** How long a minute of a task's time limit is, in milliseconds. */
  readonly minuteMs?: number
  readonly outputEveryMs?: number
  readonly killGraceMs?: number | undefined
}): TaskRunner {
  const { append, ledger, tasks, nowMs } = options
  const { minuteMs = 60_000, outputEveryMs = OUTPUT_EVERY_MS, killGraceMs = KILL_GRACE_MS } = options
  const running = new Map<string, Running>()
  const requireProgress = createProgressGuard()
  /** What of each one's output was shown last. */
  const shown = new Map<string, string>()
  let wake = Promise.withResolvers<void>()
  let closing = false
  let recovered = false
  let loop: Promise<void> = Promise.resolve()
  let unsubscribe: (() => void) | null = null

  async function run(): Promise<void> {
    while (!closing) {
      wake = Promise.withResolvers()
      try {
        if (!recovered) await recover()
        recovered = true
        const next = nextTask()
        requireProgress(next)
        if (next) await begin(next)
        else await wake.promise
      } catch (error) {
        requireProgress(undefined)
        options.onFault(error)
        await pause(RETRY_AFTER_FAULT_MS)
      }
    }
  }

  function nextTask(): TaskRow | undefined {
    if (options.isHeld() || running.size >= options.limit()) return undefined
    return tasks.queued()[0]
  }

  /**
   * Nobody can hear any more what those that a crash cut off would say: they have failed. Also of those that were over a
   * program may be left: it was being ended, or had a little time to go by itself.
   */
  async function recover(): Promise<void> {
    // A program of a task may have started the service anew: ended, it would take the service with it.
    const within = options.environment()[TASK_ID_VARIABLE]
    await endOrphans(options.dataDir, (taskId) => taskId !== within && tasks.byId(taskId) !== undefined)
    for (const row of tasks.running()) {
      await conclude(row.taskId, {
        status: 'failed',
        kind: 'interrupted',
        exitCode: null,
        text: 'The service stopped while it ran.',
      })
    }
  }

  async function begin(row: TaskRow): Promise<void> {
    const { taskId, dispatchedSeq } = row
    const [event] = ledger.readSeqs([dispatchedSeq])
    const prompt = event?.type === 'task.dispatched' ? event.body?.prompt : undefined
    if (options.command === null || prompt === undefined) {
      const text = prompt === undefined ? 'What was to be done was erased.' : 'COPILOT_COMMAND is not set.'
      return conclude(taskId, { status: 'failed', kind: 'not_configured', exitCode: null, text })
    }
    const directory = openDirectory()
    if (directory.status === 'failed') {
      return conclude(taskId, {
        status: 'failed',
        kind: 'not_configured',
        exitCode: null,
        text: `There is no directory to work in. ${directory.reason}`,
      })
    }
    const intent = await append(taskId, [progressed(row, 'started', 'Started', `task-started:${taskId}`)])
    if (intent.status === 'duplicate') return
    const callbackUrl = options.callbackUrl()
    const started = await startTaskProcess({
      command: withTask(options.command, { prompt, taskId, callbackUrl }),
      directory: directory.path,
      environment: {
        ...options.environment(),
        [TASK_ID_VARIABLE]: taskId,
        [DATA_DIR_VARIABLE]: options.dataDir,
        DELEGATE_CALLBACK_URL: callbackUrl,
        DELEGATE_TASK_PROMPT: prompt,
      },
      input: prompt,
    })
    if (started.status === 'failed') {
      const text = `The program could not be started (${started.reason}).`
      return conclude(taskId, { status: 'failed', kind: 'spawn', exitCode: null, text })
    }
    watch(row, started.process)
    // Cancelled, or closed, while it was being started.
    if (closing || tasks.byId(taskId)?.status !== 'running') end(taskId)
    await append(taskId, [
      progressed(row, 'started', 'Running', `task-running:${taskId}`, started.process.pid),
    ])
  }

  function openDirectory() {
    try {
      return { status: 'ready', path: options.directory() } as const
    } catch (error) {
      return { status: 'failed', reason: error instanceof Error ? error.message : String(error) } as const
    }
  }

  function watch(row: TaskRow, process: TaskProcess): void {
    const { taskId, timeoutMinutes } = row
    const limit = setTimeout(() => {
      const text = `It was given ${timeoutMinutes} min.\n${outputOf(taskId)}`
      conclude(taskId, { status: 'failed', kind: 'timeout', exitCode: null, text })
        .finally(() => end(taskId))
        .catch(options.onFault)
    }, timeoutMinutes * minuteMs)
    const progress = setInterval(() => {
      reportOutput(row, process).catch(options.onFault)
    }, outputEveryMs)
    const done = process.exit
      .then((exit) => exited(taskId, exit, process))
      .catch(options.onFault)
      .finally(() => {
        const entry = running.get(taskId)
        for (const timer of entry?.timers ?? []) clearTimeout(timer)
        running.delete(taskId)
        shown.delete(taskId)
        wake.resolve()
      })
    running.set(taskId, { process, timers: [limit, progress], done })
  }

  /** What it has written so far, as text that may be kept. Masked before anything is cut off: half a secret is one too. */
  function written(process: TaskProcess): { readonly stdout: string; readonly stderr: string } {
    const { stdout, stderr } = process.output()
    return { stdout: options.mask(cleanText(stdout)), stderr: options.mask(cleanText(stderr)) }
  }

  /** Its exit is the outcome, unless there is one already. */
  async function exited(taskId: string, { code, signal }: TaskExit, process: TaskProcess): Promise<void> {
    const { stdout, stderr } = written(process)
    if (closing) {
      const text = `The service stopped while it ran.\n${stdout}`
      return conclude(taskId, { status: 'failed', kind: 'interrupted', exitCode: code, text })
    }
    if (code === 0) {
      return conclude(taskId, { status: 'finished', source: 'exit', exitCode: 0, text: stdout || stderr })
    }
    const how = signal === null ? '' : `It was ended by ${signal}.`
    const text = [how, stdout, stderr].filter((part) => part.trim() !== '').join('\n')
    return conclude(taskId, { status: 'failed', kind: 'exit', exitCode: code, text })
  }

  /** Records an outcome, once; retries while the disk refuses it, for nobody else knows it. */
  async function conclude(taskId: string, outcome: TaskOutcome): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const row = tasks.byId(taskId)
      if (row?.status !== 'queued' && row?.status !== 'running') return
      try {
        await append(taskId, [outcomeFact(row, outcome, nowMs())])
        return
      } catch (error) {
        // What cannot be recorded now is found without an outcome at the next start.
        if (!(error instanceof LedgerUnavailable) || (closing && tries > 0)) throw error
        options.onFault(error)
        await pause(RETRY_AFTER_FAULT_MS)
      }
    }
  }

  async function reportOutput(row: TaskRow, process: TaskProcess): Promise<void> {
    const { taskId } = row
    const { stdout, stderr } = written(process)
    const text = endOf(oneLine(stdout || stderr), OUTPUT_CHARS)
    const current = tasks.byId(taskId)
    if (text === '' || shown.get(taskId) === text) return
    if (current?.status !== 'running' || current.progressCount >= MAX_PROGRESS) return
    shown.set(taskId, text)
    await append(taskId, [progressed(row, 'output', text)])
  }

  function end(taskId: string): void {
    running.get(taskId)?.process.end(killGraceMs).catch(options.onFault)
  }

  function outputOf(taskId: string): string {
    const entry = running.get(taskId)
    return entry ? written(entry.process).stdout : ''
  }

  return {
    start() {
      unsubscribe = options.onHeadMoved(() => wake.resolve(), ['task', 'ledger', 'outbound'])
      loop = run()
    },
    wake: () => wake.resolve(),
    end,
    letGo(taskId) {
      const entry = running.get(taskId)
      entry?.timers.push(setTimeout(() => end(taskId), LET_GO_MS))
    },
    outputOf,
    async close() {
      closing = true
      unsubscribe?.()
      wake.resolve()
      await loop
      await Promise.all(
        [...running.values()].map(async ({ process, done }) => {
          await process.end(killGraceMs)
          await done
        }),
      )
    },
  }
}

function progressed(
  { taskId, dispatchedSeq }: TaskRow,
  source: 'started' | 'output',
  text: string,
  key?: string,
  pid?: number,
): NewEvent {
  return {
    type: 'task.progressed',
    actor: 'service',
    channel: 'system',
    key,
    causedBy: dispatchedSeq,
    derivedFrom: [dispatchedSeq],
    facts: { taskId, source, ...(pid === undefined ? {} : { pid }) },
    body: { text },
  }
}

/**
 * The command with the task in the places that name it; the prompt goes to the end where none does. A prompt must
 * not pass for an option of the program, so one that begins like one is set off by a space.
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

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
