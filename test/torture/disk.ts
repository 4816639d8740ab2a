import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Builds `disk.c` into `directory`; null without a C compiler or on a system other than Linux. */
export function buildDisk(directory: string): string | null {
  if (process.platform !== 'linux') return null
  const library = join(directory, 'disk.so')
  const source = join(import.meta.dirname, 'disk.c')
  const built = spawnSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl', '-lpthread'], {
    encoding: 'utf8',
  })
  if (built.error) return null
  if (built.status !== 0) throw new Error(`disk.c does not compile: ${built.stderr}`)
  return library
}

const fileBits = { ledger: 1, views: 2 } as const
const kindBits = { write: 1, sync: 2, truncate: 4 } as const

export type Fault = {
  /** Which matching operation fails, counting from 1. */
  readonly nth: number
  readonly error: 'ENOSPC' | 'EIO'
  /** Whether all later ones fail too, until `mend`. */
  readonly sticky: boolean
  /** Whether the first one, if a write, writes half of its bytes. */
  readonly torn: boolean
  readonly kinds: readonly (keyof typeof kindBits)[]
  readonly files: readonly (keyof typeof fileBits)[]
}

const ERRNO = { ENOSPC: 28, EIO: 5 }
/** 32-bit words in the control memory of `disk.c`. */
const CONTROL_WORDS = 9

export type DiskControl = {
  arm(fault: Fault): void
  /** Lets all operations succeed from now on. */
  mend(): void
  /** How many operations failed since `arm`. */
  failed(): number
  close(): void
}

/** Controls the disk of another process through the shared file; changes take effect at once. */
export function controlDisk(file: string): DiskControl {
  writeFileSync(file, Buffer.alloc(CONTROL_WORDS * 4))
  const descriptor = openSync(file, 'r+')
  const bits = <K extends string>(table: Readonly<Record<K, number>>, keys: readonly K[]) =>
    keys.reduce((sum, key) => sum | table[key], 0)
  function set(words: readonly number[]): void {
    writeSync(descriptor, Buffer.from(Int32Array.from(words).buffer), 0, CONTROL_WORDS * 4, 0)
  }
  return {
    arm({ nth, error, sticky, torn, kinds, files }) {
      const words = [
        nth,
        ERRNO[error],
        Number(sticky),
        Number(torn),
        bits(kindBits, kinds),
        bits(fileBits, files),
      ]
      set([...words, 0, 0, 0])
    },
    mend() {
      const failed = this.failed()
      set([0, 0, 0, 0, 0, 0, 0, 0, failed])
    },
    failed: () => readFileSync(file).readInt32LE((CONTROL_WORDS - 1) * 4),
    close: () => closeSync(descriptor),
  }
}

export type DiskFiles = {
  readonly library: string
  /** The data directory whose files are watched. */
  readonly root: string
  readonly trace?: string
  readonly control?: string
}

/** The environment that makes a process use this disk. */
export function diskEnvironment({ library, root, trace, control }: DiskFiles): Record<string, string> {
  return {
    LD_PRELOAD: library,
    TORTURE_ROOT: root,
    ...(trace ? { TORTURE_TRACE: trace } : {}),
    ...(control ? { TORTURE_CONTROL: control } : {}),
  }
}
