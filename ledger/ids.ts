import { randomBytes } from 'node:crypto'

/** Makes a new identifier: 48 bits of time, then 80 random ones, in Crockford's base 32, so ids sort by age. */
export type NewId = () => string

const ALPHABET = Buffer.from('0123456789abcdefghjkmnpqrstvwxyz', 'latin1')
const TIME_CHARS = 10
const RANDOM_CHARS = 16

/** Random bytes are drawn for this many ids at once: a system call each would cost more than the rest. */
const IDS_A_POOL = 128

/** Ids in the layout of ULID (https://github.com/ulid/spec), lower case; `nowMs` is the clock in use. */
export function createIds(nowMs: () => number): NewId {
  const id = Buffer.alloc(TIME_CHARS + RANDOM_CHARS)
  let pool = randomBytes(0)
  let offset = 0
  const charOf = (value: number) => ALPHABET[value] ?? 0
  return () => {
    if (offset === pool.length) {
      pool = randomBytes(RANDOM_CHARS * IDS_A_POOL)
      offset = 0
    }
    let time = nowMs()
    for (let index = TIME_CHARS - 1; index >= 0; index -= 1) {
      id[index] = charOf(time % 32)
      time = Math.floor(time / 32)
    }
    for (let index = 0; index < RANDOM_CHARS; index += 1)
      id[TIME_CHARS + index] = charOf((pool[offset + index] ?? 0) & 31)
    offset += RANDOM_CHARS
    return id.toString('latin1')
  }
}
