/**
 * Milliseconds until a stored deadline, 0 once it has passed. Also 0 if more than `longestMs` remains: the
 * clock was ahead when the deadline was set.
 */
export function leftOfWait(
  until: string | number,
  { nowMs, longestMs }: { readonly nowMs: number; readonly longestMs: number },
): number {
  const leftMs = (typeof until === 'number' ? until : Date.parse(until)) - nowMs
  return leftMs > longestMs ? 0 : Math.max(0, leftMs)
}
