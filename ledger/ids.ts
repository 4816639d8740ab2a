import { randomBytes } from 'node:crypto'

/** Returns a new id: 48 bits of time, then 80 random bits, in Crockford's base 32. Ids sort by age. */
export type NewId = () => string

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARS = 10
const RANDOM_CHARS = 16

/** Ids in lower-case ULID layout (https://github.com/ulid/spec). */
export function createIds(nowMs: () => number): NewId {
  return () => {
    const random = Array.from(randomBytes(RANDOM_CHARS), (byte) => ALPHABET[byte & 31])
    return base32(nowMs()) + random.join('')
  }
}

function base32(value: number): string {
  let text = ''
  for (let rest = value; text.length < TIME_CHARS; rest = Math.floor(rest / 32))
    text = (ALPHABET[rest % 32] ?? '') + text
  return text
}
