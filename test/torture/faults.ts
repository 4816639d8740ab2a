import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { controlDisk, diskEnvironment, type Fault } from './disk.ts'
import type { WriterTrial, WriterTrialReport } from './faulty-writer.ts'

const all = { kinds: ['write', 'sync', 'truncate'], files: ['ledger', 'views'] } as const
const writes = { kinds: ['write'], files: ['ledger', 'views'] } as const

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
  readonly library: string
  readonly fault: Omit<Fault, 'nth'>
  readonly first: number
  readonly stride: number
}

const run = promisify(execFile)

/** Runs a ledger and its views many times, in its own process, failing another file operation in each run. */
export async function failWrites(options: FaultOptions): Promise<WriterTrialReport> {
  const { directory, library, fault, first, stride } = options
  const root = join(directory, 'root')
  const control = join(directory, 'control')
  mkdirSync(root, { recursive: true })
  const trial: WriterTrial = { root, control, fault, first, stride }
  // Created first, because the process maps it when it starts.
  const disk = controlDisk(control)
  disk.close()
  const writer = run(process.execPath, [join(import.meta.dirname, 'faulty-writer.ts')], {
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, ...diskEnvironment({ library, root, control }) },
  })
  writer.child.stdin?.on('error', () => {
    // If the writer exits without reading, awaiting it reports why.
  })
  writer.child.stdin?.end(JSON.stringify(trial))
  const { stdout } = await writer
  return JSON.parse(stdout)
}
