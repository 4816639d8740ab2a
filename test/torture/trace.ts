/** A change to a file, or the sync that makes earlier changes durable; "." is the directory. */
export type DiskOperation =
  | { readonly kind: 'write'; readonly name: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly name: string; readonly bytes: number }
  | { readonly kind: 'sync' | 'create' | 'unlink'; readonly name: string }

/** Parses a recording of `disk.c`. */
export function parseTrace(trace: Buffer): DiskOperation[] {
  const operations: DiskOperation[] = []
  let position = 0
  while (position < trace.length) {
    const end = trace.indexOf(0x0a, position)
    const [kind, name = '', first, second] = trace.toString('latin1', position, end).split(' ')
    position = end + 1
    switch (kind) {
      case 'write': {
        const bytes = trace.subarray(position, position + Number(second))
        position += bytes.length
        operations.push({ kind, name, offset: Number(first), bytes })
        break
      }
      case 'truncate':
        operations.push({ kind, name, bytes: Number(first) })
        break
      case 'sync':
      case 'create':
      case 'unlink':
        operations.push({ kind, name })
        break
      default:
        throw new Error(`unknown operation “${kind}” in the trace before byte ${position}`)
    }
  }
  return operations
}
