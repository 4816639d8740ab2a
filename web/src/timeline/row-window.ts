/** Rows from `start` (inclusive) to `end` (exclusive). */
export type RowWindow = { readonly start: number; readonly end: number }

/** The rows to render: `inView` immediately, and the larger `near` over the next frames. */
export type WantedWindows = { readonly inView: RowWindow; readonly near: RowWindow }

export function covers(window: RowWindow, wanted: RowWindow): boolean {
  return window.start <= wanted.start && window.end >= wanted.end
}

/**
 * The next window to render: all rows in view, rendered rows that are still near, and up to `atOnce` more on
 * either side, which keeps each update short. The first rendering takes all of `near`.
 */
export function nextWindow(present: RowWindow, { inView, near }: WantedWindows, atOnce: number): RowWindow {
  const kept = { start: Math.max(present.start, near.start), end: Math.min(present.end, near.end) }
  const isFirst = present.end === present.start
  if (isFirst) return near
  const isKept = kept.start < kept.end && kept.start <= inView.end && kept.end >= inView.start
  const base = isKept
    ? { start: Math.min(kept.start, inView.start), end: Math.max(kept.end, inView.end) }
    : inView
  return { start: Math.max(near.start, base.start - atOnce), end: Math.min(near.end, base.end + atOnce) }
}
