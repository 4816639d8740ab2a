import { randomBytes } from 'node:crypto'

/** Makes a new identifier: 48 bits of time, then 80 random ones, in Crockford's base 32, so ids sort by age. */
export type NewId = () => string

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARS = 10
const RANDOM_BYTES = 16

/** Random bytes are drawn for this many ids at once: a system call each would cost more than the rest. */
const IDS_A_POOL = 128

/** Ids in the layout of ULID (https://github.com/ulid/spec), lower case; `nowMs` is the clock in use. */
export function createIds(nowMs: () => number): NewId {
  let pool = randomBytes(0)
  let offset = 0
  return () => {
    if (offset === pool.length) {
      pool = randomBytes(RANDOM_BYTES * IDS_A_POOL)
      offset = 0
    }
    let time = nowMs()
    let id = ''
    for (let index = 0; index < TIME_CHARS; index += 1) {
      id = ALPHABET.charAt(time % 32) + id
      time = Math.floor(time / 32)
    }
    for (const byte of pool.subarray(offset, offset + RANDOM_BYTES)) id += ALPHABET.charAt(byte & 31)
    offset += RANDOM_BYTES
    return id
  }
}
