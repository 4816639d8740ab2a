import { readdir, readFile } from 'node:fs/promises'
import { signal, signalGroup } from '../lib/program.ts'

/** Environment variables that identify our processes. A copy of the ledger has the same task ids. */
export const TASK_ID_VARIABLE = 'DELEGATE_TASK_ID'
export const DATA_DIR_VARIABLE = 'DELEGATE_DATA_DIR'

/**
 * Ends processes that earlier runs of the service on `dataDir` started for tasks. Identifies them by their
 * environment rather than by recorded pids, which may be missing or reused. Does nothing without `/proc`.
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

/** The task of a process; null if it is not one of `dataDir`, has exited or is not readable. */
async function taskOf(pid: number, dataDir: string): Promise<string | null> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  const variables = environment.split('\0')
  if (!variables.includes(`${DATA_DIR_VARIABLE}=${dataDir}`)) return null
  const prefix = `${TASK_ID_VARIABLE}=`
  return variables.find((each) => each.startsWith(prefix))?.slice(prefix.length) ?? null
}
