import { english } from '../language/message.ts'
import { startProgram } from '../lib/program.ts'
import { afterAwake } from '../lib/waits.ts'

/** Long enough to send gigabytes over a slow line. */
const LIMIT_MS = 6 * 60 * 60_000

/**
 * Runs the operator's command in a shell. Resolves to null if it succeeded, else to a sentence about how it ended.
 * `onError` receives the end of what a failed command wrote to standard error. Ends the command and its child
 * processes after the limit or with the signal, whose reason it throws.
 */
export async function runBackupCommand(
  command: string,
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
  { onError, limitMs = LIMIT_MS }: { onError: (text: string) => void; limitMs?: number | undefined },
): Promise<string | null> {
  const shell = ['/bin/sh', '-c', command]
  const started = await startProgram({ command: shell, directory: '/', environment, input: '' })
  if (started.status === 'failed') return english`BACKUP_COMMAND could not be started (${started.reason}).`
  const { process } = started
  const end = () => void process.end(0)
  let isLate = false
  const cancel = afterAwake(limitMs, () => {
    isLate = true
    end()
  })
  signal.addEventListener('abort', end, { once: true })
  try {
    if (signal.aborted) end()
    const { code } = await process.exit
    signal.throwIfAborted()
    if (code === 0) return null
    onError(process.output().stderr.slice(-2_000))
    if (isLate) return english`BACKUP_COMMAND took too long and was ended.`
    return code === null
      ? english`BACKUP_COMMAND was ended by a signal.`
      : english`BACKUP_COMMAND failed with exit code ${code}.`
  } finally {
    cancel()
    signal.removeEventListener('abort', end)
  }
}
