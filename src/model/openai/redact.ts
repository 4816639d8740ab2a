import { createMask, MASK } from '../../lib/mask.ts'
import { shorten } from '../../lib/shorten.ts'

const MAX_CHARS = 300
/** A local model's key may be as short as this. */
const SHORTEST_KEY_CHARS = 4
/** Keys as services echo them in errors, masked or not. */
const ECHOED_KEYS = /\b(?:sk|rk|pk|ek)[-_][\w*.-]{4,}|\bBearer\s+[^\s"',;]+/gi

/** Makes a message safe to log and show: one line, without our secrets or anything like a key. */
export function redact(text: string, secrets: readonly string[]): string {
  const mask = createMask(() => secrets, SHORTEST_KEY_CHARS)
  const clean = mask.values(text.slice(0, MAX_CHARS * 10)).replace(ECHOED_KEYS, MASK)
  return shorten(clean.replace(/[\s\p{Cc}]+/gu, ' ').trim(), MAX_CHARS)
}
