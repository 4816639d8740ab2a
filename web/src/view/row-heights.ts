/** Where rows of different heights lie: measured where they were seen, estimated elsewhere. Pixels. */
export type RowHeights = {
  /** Takes the rows as they are now; measured heights are kept by key. */
  setRows(rows: readonly { readonly key: string }[], estimate: (index: number) => number): void
  /** True where it differed from what was known. */
  measured(index: number, height: number): boolean
  offsetOf(index: number): number
  /** The row that covers this offset; the nearest one outside of all. */
  indexAt(offset: number): number
  readonly total: number
}

export function createRowHeights(): RowHeights {
  const known = new Map<string, number>()
  let keys: readonly { readonly key: string }[] = []
  let heights = new Float64Array(0)
  /** offsets[i] is the top of row i; one more entry than rows. */
  let offsets = new Float64Array(1)
  /** Offsets up to and including this index are right. */
  let validTo = 0

  function validate(index: number): void {
    for (let i = validTo; i < index; i += 1) offsets[i + 1] = (offsets[i] ?? 0) + (heights[i] ?? 0)
    if (index > validTo) validTo = index
  }

  return {
    setRows(rows, estimate) {
      keys = rows
      heights = new Float64Array(rows.length)
      offsets = new Float64Array(rows.length + 1)
      validTo = 0
      rows.forEach((row, index) => {
        heights[index] = known.get(row.key) ?? estimate(index)
      })
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
