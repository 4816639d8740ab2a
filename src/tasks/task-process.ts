import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'

/** How a process came to its end. */
export type TaskExit = { readonly code: number | null; readonly signal: string | null }

export type TaskProcess = {
  readonly pid: number
  /** Resolves when the process is gone and what it wrote has been read. */
  readonly exit: Promise<TaskExit>
  /** The end of what it has written so far, within the bounds. */
  output(): { readonly stdout: string; readonly stderr: string }
  /** Ends the whole process group: asks first, and after `graceMs` no more. Resolves when it is gone. */
  end(graceMs: number): Promise<void>
}

export type StartedProcess =
  | { readonly status: 'started'; readonly process: TaskProcess }
  | { readonly status: 'failed'; readonly reason: string }

/** The variables by which a process can be told to be one of ours: of a copy of the ledger the tasks have the same ids. */
export const TASK_ID_VARIABLE = 'DELEGATE_TASK_ID'
export const DATA_DIR_VARIABLE = 'DELEGATE_DATA_DIR'

const STDOUT_BYTES = 64 * 1024
const STDERR_BYTES = 16 * 1024
/** Whoever holds the pipes after the process itself has gone is not waited for longer. */
const DRAIN_MS = 500

/**
 * Starts a program without a shell, in a process group of its own, so that it can be ended with all that it started.
 * What it writes is read to the end and kept within bounds. Never throws for what the program does.
 */
export async function startTaskProcess(options: {
  readonly command: readonly string[]
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  readonly input: string
}): Promise<StartedProcess> {
  const [program = '', ...args] = options.command
  let child: ChildProcess
  try {
    child = spawn(program, args, {
      cwd: options.directory,
      env: { ...options.environment },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    await once(child, 'spawn')
  } catch (error) {
    // Only its class: the message holds the arguments, and with them the prompt.
    return { status: 'failed', reason: codeOf(error) }
  }
  const pid = child.pid ?? 0
  const stdout = keepEnd(child.stdout, STDOUT_BYTES)
  const stderr = keepEnd(child.stderr, STDERR_BYTES)
  // A program that does not read its input may be gone before all of it is written.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input)
  child.on('error', () => undefined)

  const exit = new Promise<TaskExit>((resolve) => {
    child.once('exit', (code, signal) => {
      // What it left behind in its group goes with it.
      signalGroup(pid, 'SIGKILL')
      const finish = () => {
        clearTimeout(deadline)
        child.stdout?.destroy()
        child.stderr?.destroy()
        resolve({ code, signal })
      }
      const deadline = setTimeout(finish, DRAIN_MS)
      child.once('close', finish)
    })
  })

  return {
    status: 'started',
    process: {
      pid,
      exit,
      output: () => ({ stdout: stdout(), stderr: stderr() }),
      async end(graceMs) {
        signalGroup(pid, 'SIGTERM')
        const force = setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs)
        await exit
        clearTimeout(force)
      },
    },
  }
}

/**
 * Ends what earlier runs of the service on `dataDir` started for tasks, as far as it is still there. It is told by its
 * environment, which names the very task, and not by the id of a process: that may not have been recorded when a crash
 * came, may long be somebody else's, or be of a program that is gone and has left others running. Where `/proc` is
 * missing nothing is touched.
 */
export async function endOrphans(dataDir: string, isOurs: (taskId: string) => boolean): Promise<void> {
  const names = await readdir('/proc').catch(() => [])
  for (const pid of names.filter((name) => /^\d+$/.test(name)).map(Number)) {
    const taskId = pid === process.pid ? null : await taskOf(pid, dataDir)
    if (taskId === null || !isOurs(taskId)) continue
    signalGroup(pid, 'SIGKILL')
    signal(pid, 'SIGKILL')
  }
}

/** The task that a process was started for; null where it is none of `dataDir`, or is gone, or is not ours to look at. */
async function taskOf(pid: number, dataDir: string): Promise<string | null> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  const variables = environment.split('\0')
  if (!variables.includes(`${DATA_DIR_VARIABLE}=${dataDir}`)) return null
  const prefix = `${TASK_ID_VARIABLE}=`
  return variables.find((each) => each.startsWith(prefix))?.slice(prefix.length) ?? null
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  if (pid > 1) signal(-pid, name)
}

/** Of a process, or by a negative id of all of its group. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    // Nobody of it is left, or what is left is not ours to signal.
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error
  }
}

/** Reads a stream to its end, and keeps its last bytes. */
function keepEnd(stream: NodeJS.ReadableStream | null, maxBytes: number): () => string {
  let chunks: Buffer[] = []
  let bytes = 0
  stream?.on('error', () => undefined)
  stream?.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes <= 2 * maxBytes) return
    const kept = Buffer.concat(chunks).subarray(-maxBytes)
    chunks = [kept]
    bytes = kept.length
  })
  return () => Buffer.concat(chunks).subarray(-maxBytes).toString('utf8')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
