import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { startFlags } from '../support/start-flags.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')

export type ServiceProcess = {
  /** Resolves to the port once it listens; rejects when the process ends before. */
  readonly listening: Promise<number>
  readonly child: ChildProcess
  /** The code that installing asks for, once it listens; null where it is installed already. */
  setupCode(): string | null
  /** All that it wrote to its log and to stderr. */
  output(): string
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>
}

/** The service in a process of its own, as `npm start` runs it, on a port that the system chooses. */
export function startServiceProcess(
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): ServiceProcess {
  const child = spawn(process.execPath, [...startFlags(), MAIN], {
    env: {
      ...process.env,
      DATA_DIR: directory,
      PORT: '0',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const listening = Promise.withResolvers<number>()
  // Whoever kills it before it listens does not wait for the port.
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
