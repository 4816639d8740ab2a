import { randomBytes } from 'node:crypto'

/** Makes a new identifier: 48 bits of time, then 80 random ones, in Crockford's base 32, so ids sort by age. */
export type NewId = () => string

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_CHARS = 10
const RANDOM_BYTES = 16

/** Ids in the layout of ULID (https://github.com/ulid/spec), lower case; `nowMs` is the clock in use. */
export function createIds(nowMs: () => number): NewId {
  return () => {
    let time = nowMs()
    let id = ''
    for (let index = 0; index < TIME_CHARS; index += 1) {
      id = ALPHABET.charAt(time % 32) + id
      time = Math.floor(time / 32)
    }
    for (const byte of randomBytes(RANDOM_BYTES)) id += ALPHABET.charAt(byte & 31)
    return id
  }
}
