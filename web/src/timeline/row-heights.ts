/** Pixel offsets of rows. Heights are measured for rendered rows and estimated for the others. */
export type RowHeights = {
  /** Replaces the rows and keeps measured heights by key. Unchanged objects at either end are cheap. */
  setRows(rows: readonly { readonly key: string }[], estimate: (index: number) => number): void
  /** Records a measured height. True if it changed. */
  measured(index: number, height: number): boolean
  offsetOf(index: number): number
  /** The row at this offset, or the nearest one. */
  indexAt(offset: number): number
  readonly total: number
}

export function createRowHeights(): RowHeights {
  const known = new Map<string, number>()
  let keys: readonly { readonly key: string }[] = []
  let heights = new Float64Array(0)
  /** offsets[i] is the top of row i; the last entry is the total height. */
  let offsets = new Float64Array(1)
  /** Offsets up to and including this index are valid. */
  let validTo = 0

  function validate(index: number): void {
    for (let i = validTo; i < index; i += 1) offsets[i + 1] = (offsets[i] ?? 0) + (heights[i] ?? 0)
    if (index > validTo) validTo = index
  }

  return {
    setRows(rows, estimate) {
      const before = { keys, heights }
      const kept = Math.min(rows.length, before.keys.length)
      let head = 0
      while (head < kept && rows[head] === before.keys[head]) head += 1
      let tail = 0
      while (tail < kept - head && rows.at(-1 - tail) === before.keys.at(-1 - tail)) tail += 1
      keys = rows
      heights = new Float64Array(rows.length)
      heights.set(before.heights.subarray(0, head))
      heights.set(before.heights.subarray(before.keys.length - tail), rows.length - tail)
      for (let index = head; index < rows.length - tail; index += 1) {
        heights[index] = known.get(rows[index]?.key ?? '') ?? estimate(index)
      }
      offsets = new Float64Array(rows.length + 1)
      validTo = 0
    },
    measured(index, height) {
      const row = keys[index]
      if (!row || (heights[index] === height && known.has(row.key))) return false
      known.set(row.key, height)
      const differs = heights[index] !== height
      heights[index] = height
      if (differs && index < validTo) validTo = index
      return differs
    },
    offsetOf(index) {
      const bounded = Math.max(0, Math.min(index, keys.length))
      validate(bounded)
      return offsets[bounded] ?? 0
    },
    indexAt(offset) {
      validate(keys.length)
      let low = 0
      let high = keys.length - 1
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if ((offsets[middle] ?? 0) <= offset) low = middle
        else high = middle - 1
      }
      return Math.max(0, low)
    },
    get total() {
      validate(keys.length)
      return offsets[keys.length] ?? 0
    },
  }
}
