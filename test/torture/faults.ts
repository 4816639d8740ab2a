import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { controlDisk, diskEnvironment, type Fault } from './disk.ts'
import type { WriterTrial, WriterTrialReport } from './faulty-writer.ts'

const all = { kinds: ['write', 'sync', 'truncate'], files: ['ledger', 'views'] } as const
const writes = { kinds: ['write'], files: ['ledger', 'views'] } as const

/** The ways in which a disk fails here. */
export const faultKinds = {
  'full until space returns': { error: 'ENOSPC', sticky: true, torn: true, ...writes },
  'full for one write': { error: 'ENOSPC', sticky: false, torn: true, ...writes },
  'one operation fails': { error: 'EIO', sticky: false, torn: false, ...all },
  'every operation fails for a while': { error: 'EIO', sticky: true, torn: false, ...all },
  'the ledger alone fails': { error: 'EIO', sticky: true, torn: true, kinds: all.kinds, files: ['ledger'] },
  'the views alone fail': { error: 'EIO', sticky: true, torn: true, kinds: all.kinds, files: ['views'] },
} as const satisfies Record<string, Omit<Fault, 'nth'>>

export type FaultOptions = {
  readonly directory: string
  /** Of `buildDisk`. */
  readonly library: string
  readonly fault: Omit<Fault, 'nth'>
  readonly first: number
  readonly stride: number
}

/** Many short lives of a ledger and its views, in each of which another operation on their files fails. */
export function failWrites({ directory, library, fault, first, stride }: FaultOptions): WriterTrialReport {
  const root = join(directory, 'root')
  const control = join(directory, 'control')
  mkdirSync(root, { recursive: true })
  const trial: WriterTrial = { root, control, fault, first, stride }
  // Made here, since the process maps it when it starts.
  const disk = controlDisk(control)
  disk.close()
  const ran = spawnSync(process.execPath, [join(import.meta.dirname, 'faulty-writer.ts')], {
    encoding: 'utf8',
    input: JSON.stringify(trial),
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, ...diskEnvironment({ library, root, control }) },
  })
  if (ran.status !== 0) throw new Error(`the writer ended with ${ran.status ?? ran.signal}: ${ran.stderr}`)
  return JSON.parse(ran.stdout)
}
