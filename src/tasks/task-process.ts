import { readdir, readFile } from 'node:fs/promises'
import pLimit from 'p-limit'
import { signal, signalGroup } from '../lib/program.ts'

/** Environment variables that identify our processes. A copy of the ledger has the same task ids. */
export const TASK_ID_VARIABLE = 'DELEGATE_TASK_ID'
export const DATA_DIR_VARIABLE = 'DELEGATE_DATA_DIR'

/** Reading one file after the other takes seconds while the event loop is busy, and no task runs meanwhile. */
const AT_ONCE = 16

/**
 * Ends processes of tasks of the service on `dataDir`, whatever their group and whichever run of the service started
 * them. Identifies them by their environment rather than by recorded pids, which may be missing or reused. Does
 * nothing without `/proc`.
 */
export async function endOrphans(dataDir: string, isOurs: (taskId: string) => boolean): Promise<void> {
  const names = await readdir('/proc').catch(() => [])
  const others = names.filter((name) => /^\d+$/.test(name) && name !== String(process.pid)).map(Number)
  await pLimit(AT_ONCE).map(others, async (pid) => {
    const taskId = await taskOf(pid, dataDir)
    if (taskId === null || !isOurs(taskId)) return
    signalGroup(pid, 'SIGKILL')
    signal(pid, 'SIGKILL')
  })
}

/** The task of a process; null if it is not one of `dataDir`, has exited or is not readable. */
async function taskOf(pid: number, dataDir: string): Promise<string | null> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  const variables = environment.split('\0')
  if (!variables.includes(`${DATA_DIR_VARIABLE}=${dataDir}`)) return null
  const prefix = `${TASK_ID_VARIABLE}=`
  return variables.find((each) => each.startsWith(prefix))?.slice(prefix.length) ?? null
}
