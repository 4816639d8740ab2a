/**
 * How much is left of a wait until a moment that was chosen earlier, in milliseconds; 0 once it is over. The clock may
 * have been ahead then and be right now: of a wait that would take longer than any of its kind, nothing is left.
 */
export function leftOfWait(
  until: string | number,
  { nowMs, longestMs }: { readonly nowMs: number; readonly longestMs: number },
): number {
  const leftMs = (typeof until === 'number' ? until : Date.parse(until)) - nowMs
  return leftMs > longestMs ? 0 : Math.max(0, leftMs)
}
