/** The delay in ms from `retry-after-ms` or Retry-After (RFC 9110, 10.2.3); null if neither is valid. */
export function parseRetryAfter(headers: Headers, nowMs: number): number | null {
  const fine = headers.get('retry-after-ms')
  if (fine !== null && /^\d+(?:\.\d+)?$/.test(fine)) return Math.ceil(Number(fine))
  const value = headers.get('retry-after')?.trim()
  if (!value) return null
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  // Date.parse accepts much that is not an HTTP date, such as "-1".
  const date = value.endsWith('GMT') ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}
