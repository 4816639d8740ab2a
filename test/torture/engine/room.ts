import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Room = { fill(): void; free(): void; close(): void }

const MEGABYTES = 128

/** Mounts a small memory file system at a directory; null if this process may not mount one. */
export function openRoom(directory: string): Room | null {
  const options = ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m,mode=755`, 'tmpfs', directory]
  if (spawnSync('mount', options).status !== 0) return null
  const filler = join(directory, 'filler')
  return {
    /** Leaves no room at all. */
    fill() {
      for (const bytes of [1_048_576, 4_096]) {
        try {
          for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' })
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
        }
      }
    },
    free: () => rmSync(filler, { force: true }),
    close: () => void spawnSync('umount', ['-l', directory]),
  }
}
