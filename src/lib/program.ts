import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export type ProgramExit = { readonly code: number | null; readonly signal: string | null }

export type Program = {
  readonly pid: number
  /** Resolves when the process has exited and its output has been read. */
  readonly exit: Promise<ProgramExit>
  /** The end of the output so far. */
  output(): { readonly stdout: string; readonly stderr: string }
  /**
   * Ends the process group with SIGTERM, and SIGKILL after `graceMs`. Resolves when the process has exited. Does
   * it once, however often it is called.
   */
  end(graceMs: number): Promise<void>
}

/** Ids of a user of this machine. */
export type Account = { readonly uid: number; readonly gid: number }

export type StartedProgram =
  | { readonly status: 'started'; readonly process: Program }
  | { readonly status: 'failed'; readonly reason: string }

const STDOUT_BYTES = 64 * 1024
const STDERR_BYTES = 16 * 1024
/** Time limit for reading the pipes after the process has exited: a child process may hold them open. */
const DRAIN_MS = 500

/**
 * Starts a program without a shell, in its own process group, so that its child processes end with it. Keeps
 * only the end of the output. Does not throw if the program fails.
 */
export async function startProgram(options: {
  readonly command: readonly string[]
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  /** For its standard input. */
  readonly input: string
  /** The account to run as; by default that of the service. */
  readonly account?: Account | null
}): Promise<StartedProgram> {
  const [program = '', ...args] = options.command
  let child: ChildProcess
  try {
    child = spawn(program, args, {
      cwd: options.directory,
      env: { ...options.environment },
      ...options.account,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    await once(child, 'spawn')
  } catch (error) {
    // Only the code: the message holds the arguments, which may be private.
    return { status: 'failed', reason: codeOf(error) }
  }
  const pid = child.pid ?? 0
  const stdout = keepEnd(child.stdout, STDOUT_BYTES)
  const stderr = keepEnd(child.stderr, STDERR_BYTES)
  // A program that does not read its input may exit before all of it is written.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(options.input)
  child.on('error', () => undefined)

  const exit = new Promise<ProgramExit>((resolve) => {
    child.once('exit', (code, signal) => {
      // Ends child processes that are left in the group.
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

  /** Does nothing after the exit, when the id may be that of another group. */
  function signalRunning(name: NodeJS.Signals): void {
    if (child.exitCode === null && child.signalCode === null) signalGroup(pid, name)
  }

  async function end(graceMs: number): Promise<void> {
    signalRunning('SIGTERM')
    const force = setTimeout(() => signalRunning('SIGKILL'), graceMs)
    await exit
    clearTimeout(force)
  }
  let ending: Promise<void> | null = null

  return {
    status: 'started',
    process: {
      pid,
      exit,
      output: () => ({ stdout: stdout(), stderr: stderr() }),
      end(graceMs) {
        ending ??= end(graceMs)
        return ending
      },
    },
  }
}

/** Signals the group that a process leads. */
export function signalGroup(pid: number, name: NodeJS.Signals): void {
  if (pid > 1) signal(-pid, name)
}

/** Signals a process, or with a negative id its group. Ignores those that have exited or are not ours. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH' && codeOf(error) !== 'EPERM') throw error
  }
}

/** Reads a stream and keeps its last `maxBytes`. */
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

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
