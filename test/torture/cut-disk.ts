import type { Random } from '../support/random.ts'
import type { DiskOperation } from './trace.ts'

type Change = Extract<DiskOperation, { kind: 'write' | 'truncate' }>
type File = { durable: Buffer; pending: Change[] }
type Entry = { readonly kind: 'create' | 'unlink'; readonly name: string; readonly file: File }

const SECTOR_BYTES = 512

/**
 * A disk that can lose power. Syncing a file makes its changes durable; syncing the directory, its names.
 * After a cut, the names are as at some moment since the last directory sync, because file systems keep them
 * in order. Any subset of a file's unsynced changes, or of their sectors, may survive.
 */
export function createCutDisk() {
  const seen = new Map<string, File>()
  const lasting = new Map<string, File>()
  let pendingEntries: Entry[] = []

  function enter(names: Map<string, File>, { kind, name, file }: Entry): void {
    if (kind === 'create') names.set(name, file)
    else names.delete(name)
  }

  function fileOf(name: string): File {
    const file = seen.get(name)
    if (!file) throw new Error(`${name} is changed but was never created`)
    return file
  }

  return {
    apply(operation: DiskOperation): void {
      switch (operation.kind) {
        case 'create':
        case 'unlink': {
          const file =
            operation.kind === 'create' ? { durable: Buffer.alloc(0), pending: [] } : fileOf(operation.name)
          const entry = { kind: operation.kind, name: operation.name, file }
          enter(seen, entry)
          pendingEntries.push(entry)
          break
        }
        case 'sync': {
          if (operation.name === '.') {
            for (const entry of pendingEntries) enter(lasting, entry)
            pendingEntries = []
            break
          }
          const file = fileOf(operation.name)
          file.durable = changed(file.durable, file.pending)
          file.pending = []
          break
        }
        default:
          fileOf(operation.name).pending.push(operation)
      }
    },
    /** The files after a power cut now. Does not change the disk. */
    cut(random: Random): Map<string, Buffer> {
      const names = new Map(lasting)
      for (const entry of pendingEntries.slice(0, random.below(pendingEntries.length + 1)))
        enter(names, entry)
      return new Map([...names].map(([name, file]) => [name, survivor(file, random)]))
    },
  }
}

function survivor({ durable, pending }: File, random: Random): Buffer {
  return changed(durable, survivingChanges(pending, random))
}

function survivingChanges(pending: readonly Change[], random: Random): readonly Change[] {
  const share = random.next()
  switch (random.pick(['nothing', 'all', 'first', 'some', 'sectors', 'sectors'] as const)) {
    case 'nothing':
      return []
    case 'all':
      return pending
    case 'first':
      return pending.slice(0, random.below(pending.length + 1))
    case 'some':
      return pending.filter(() => random.chance(share))
    case 'sectors':
      return pending.flatMap(sectorsOf).filter(() => random.chance(share))
  }
}

function sectorsOf(change: Change): Change[] {
  if (change.kind === 'truncate') return [change]
  const { name, offset, bytes } = change
  const sectors: Change[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + SECTOR_BYTES - ((offset + start) % SECTOR_BYTES))
    sectors.push({ kind: 'write', name, offset: offset + start, bytes: bytes.subarray(start, end) })
    start = end
  }
  return sectors
}

function changed(content: Buffer, changes: readonly Change[]): Buffer {
  const endOf = (change: Change) => (change.kind === 'truncate' ? 0 : change.offset + change.bytes.length)
  const after = Buffer.alloc(changes.reduce((most, change) => Math.max(most, endOf(change)), content.length))
  content.copy(after)
  let size = content.length
  for (const change of changes) {
    if (change.kind === 'write') {
      change.bytes.copy(after, change.offset)
      size = Math.max(size, endOf(change))
    } else {
      // Bytes cut off by a truncation read as zeros if the file grows again.
      after.fill(0, Math.min(size, change.bytes), size)
      size = Math.min(after.length, change.bytes)
    }
  }
  return after.subarray(0, size)
}
