import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { testDirectory } from './directory.ts'

export type SmallDisk = {
  readonly directory: string
  fill(): void
  /** Removes what filled it. */
  free(): void
  makeReadOnly(): void
}

/** A memory file system, unmounted after the test; null if this process may not mount one. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  const disk = testDirectory()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', disk]).status !== 0) return null
  onTestFinished(() => void spawnSync('umount', ['-l', disk]))
  const directory = join(disk, 'data')
  mkdirSync(directory)
  return {
    directory,
    fill() {
      for (const bytes of [65_536, 4_096]) {
        try {
          for (;;) writeFileSync(join(disk, 'filler'), Buffer.alloc(bytes), { flag: 'a' })
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
        }
      }
    },
    free: () => rmSync(join(disk, 'filler')),
    makeReadOnly() {
      const { status, stderr } = spawnSync('mount', ['-o', 'remount,ro', disk], { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
    },
  }
}
