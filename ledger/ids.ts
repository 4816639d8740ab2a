import { randomBytes } from 'node:crypto'

/** Returns a new id: 48 bits of time, then 80 random bits, in Crockford's base 32. Ids sort by age. */
export type NewId = () => string

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARS = 10
const RANDOM_CHARS = 16

/** Random bytes are drawn for many ids at once, because the system call dominates the cost. */
const IDS_A_POOL = 128

/** Ids in lower-case ULID layout (https://github.com/ulid/spec). */
export function createIds(nowMs: () => number): NewId {
  let pool = ''
  let offset = 0
  let timeMs = Number.NaN
  let time = ''
  return () => {
    const now = nowMs()
    if (now !== timeMs) {
      timeMs = now
      time = base32(now)
    }
    if (offset >= pool.length) {
      pool = Array.from(randomBytes(RANDOM_CHARS * IDS_A_POOL), (byte) => ALPHABET[byte & 31]).join('')
      offset = 0
    }
    offset += RANDOM_CHARS
    return time + pool.slice(offset - RANDOM_CHARS, offset)
  }
}

function base32(value: number): string {
  let text = ''
  for (let rest = value; text.length < TIME_CHARS; rest = Math.floor(rest / 32))
    text = (ALPHABET[rest % 32] ?? '') + text
  return text
}
