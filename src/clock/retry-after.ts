/** Retry-After in seconds or as an HTTP date (RFC 9110, 10.2.3), or the finer `retry-after-ms`; in ms. */
export function parseRetryAfter(headers: Headers, nowMs: number): number | null {
  const fine = headers.get('retry-after-ms')
  if (fine !== null && /^\d+(?:\.\d+)?$/.test(fine)) return Math.ceil(Number(fine))
  const value = headers.get('retry-after')?.trim()
  if (!value) return null
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  // Date.parse reads much that is no HTTP date, "-1" among it.
  const date = value.endsWith('GMT') ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}
