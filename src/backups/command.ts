import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { afterAwake } from '../lib/waits.ts'

/** Long enough to send gigabytes over a slow line. */
const LIMIT_MS = 6 * 60 * 60_000

/**
 * Runs the operator's command in a shell. Resolves to null if it succeeded, else to a sentence about how it ended.
 * `onError` receives what a failed one wrote to standard error. Ends it and its children after the limit or with the
 * signal.
 */
export async function runBackupCommand(
  command: string,
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
  { onError, limitMs = LIMIT_MS }: { onError: (text: string) => void; limitMs?: number | undefined },
): Promise<string | null> {
  // A group of its own, so that its children end with it.
  const child = spawn('/bin/sh', ['-c', command], {
    env: { ...environment },
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let isLate = false
  const end = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  }
  const cancel = afterAwake(limitMs, () => {
    isLate = true
    end()
  })
  signal.addEventListener('abort', end, { once: true })
  try {
    const exited = new Promise<number | null>((resolve, reject) =>
      child.once('error', reject).once('exit', resolve),
    )
    const [code, errors] = await Promise.all([exited, text(child.stderr)])
    signal.throwIfAborted()
    if (code === 0) return null
    onError(errors.slice(-2_000))
    if (isLate) return 'BACKUP_COMMAND took too long and was ended.'
    return code === null
      ? 'BACKUP_COMMAND was ended by a signal.'
      : `BACKUP_COMMAND failed with exit code ${code}.`
  } finally {
    cancel()
    signal.removeEventListener('abort', end)
  }
}
