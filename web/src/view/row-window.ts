/** Rows from `start` up to, not including, `end`. */
export type RowWindow = { readonly start: number; readonly end: number }

/** What is to be in the document: at once what is in view, and in time what is near it, which includes that. */
export type WantedWindows = { readonly inView: RowWindow; readonly near: RowWindow }

export function covers(window: RowWindow, wanted: RowWindow): boolean {
  return window.start <= wanted.start && window.end >= wanted.end
}

/**
 * The rows to render now, between those that are rendered and those that are wanted: all that are in view, what is
 * there already and still near, and up to `atOnce` further ones on either side, so that no single update has to
 * make many. Where nothing that is there is of use, all that are near: the first rendering is one.
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
