import { readdirSync, readFileSync } from 'node:fs'
import { signal, signalGroup } from '../lib/program.ts'

/** Environment variables that identify our processes. A copy of the ledger has the same task ids. */
export const TASK_ID_VARIABLE = 'DELEGATE_TASK_ID'
export const DATA_DIR_VARIABLE = 'DELEGATE_DATA_DIR'

/**
 * Ends processes that earlier runs of the service on `dataDir` started for tasks. Identifies them by their
 * environment rather than by recorded pids, which may be missing or reused. Does nothing without `/proc`.
 */
export function endOrphans(dataDir: string, isOurs: (taskId: string) => boolean): void {
  // Not async: file after file, that takes seconds while the event loop is busy, and no task runs meanwhile.
  for (const pid of pids()) {
    const taskId = pid === process.pid ? null : taskOf(pid, dataDir)
    if (taskId === null || !isOurs(taskId)) continue
    signalGroup(pid, 'SIGKILL')
    signal(pid, 'SIGKILL')
  }
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** The task of a process; null if it is not one of `dataDir`, has exited or is not readable. */
function taskOf(pid: number, dataDir: string): string | null {
  let environment: string
  try {
    environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return null
  }
  const variables = environment.split('\0')
  if (!variables.includes(`${DATA_DIR_VARIABLE}=${dataDir}`)) return null
  const prefix = `${TASK_ID_VARIABLE}=`
  return variables.find((each) => each.startsWith(prefix))?.slice(prefix.length) ?? null
}
