/** Pixel offsets of rows. Heights are measured for rendered rows and estimated for the others. */
export class RowHeights<R extends { readonly key: string }> {
  private readonly known = new Map<string, number>()
  private rows: readonly R[] = []
  private heights: number[] = []
  /** The top of each row, then the total height; null until needed. */
  private offsets: readonly number[] | null = null

  /** Replaces the rows and keeps measured heights by key. */
  setRows(rows: readonly R[], estimate: (row: R) => number): void {
    this.rows = rows
    this.heights = rows.map((row) => this.known.get(row.key) ?? estimate(row))
    this.offsets = null
  }

  /** Records a measured height. */
  measured(index: number, height: number): void {
    const row = this.rows[index]
    if (!row) return
    this.known.set(row.key, height)
    if (this.heights[index] !== height) this.offsets = null
    this.heights[index] = height
  }

  /** The top of a row; for an index beyond the last one, the total height. */
  offsetOf(index: number): number {
    return this.tops().at(Math.min(index, this.rows.length)) ?? 0
  }

  /** The row at this offset, or the nearest one. */
  indexAt(offset: number): number {
    const at = this.tops().findLastIndex((top) => top <= offset)
    return Math.max(0, Math.min(at, this.rows.length - 1))
  }

  get total(): number {
    return this.offsetOf(this.rows.length)
  }

  private tops(): readonly number[] {
    if (this.offsets) return this.offsets
    const offsets = [0]
    let top = 0
    for (const height of this.heights) {
      top += height
      offsets.push(top)
    }
    this.offsets = offsets
    return offsets
  }
}
