import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { startEnvironment, startFlags } from '../support/start-flags.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')

export type ServiceProcess = {
  /** Resolves to the port once the service listens; rejects if the process exits first. */
  readonly listening: Promise<number>
  readonly child: ChildProcess
  /** The set-up code once the service listens; null if it is installed already. */
  setupCode(): string | null
  /** Everything written to the log and to stderr. */
  output(): string
  /** Sends SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>
  /** Sends SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>
}

/** Runs the service in its own process, as `npm start` does, on a free port. */
export function startServiceProcess(
  directory: string,
  environment: Readonly<Record<string, string>> = {},
  main = MAIN,
): ServiceProcess {
  const child = spawn(process.execPath, [...startFlags(), main], {
    env: {
      ...process.env,
      ...startEnvironment(),
      DATA_DIR: directory,
      PORT: '0',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      TASK_ISOLATION: 'none',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const listening = Promise.withResolvers<number>()
  // A caller that kills the process early does not await the port.
  listening.promise.catch(() => undefined)
  const ended = once(child, 'exit')
  let output = ''
  let isListening = false
  const take = (chunk: Buffer) => {
    output += chunk.toString()
    const port = isListening ? undefined : output.match(/"url":"http:\/\/127\.0\.0\.1:(\d+)"/)?.[1]
    if (port === undefined) return
    isListening = true
    listening.resolve(Number(port))
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  child.on('exit', (code, signal) =>
    listening.reject(new Error(`the service ended with ${signal ?? code} before it listened:\n${output}`)),
  )

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
    return child.exitCode
  }
  return {
    listening: listening.promise,
    setupCode: () => output.match(/"setupCode":"([^"]+)"/)?.[1] ?? null,
    child,
    output: () => output,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  }
}
