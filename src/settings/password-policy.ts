import * as z from 'zod'
import { normalize } from './passwords.ts'

const MIN_PASSWORD_CHARS = 12
/** Far above what anybody types; only bounds the work. */
export const MAX_PASSWORD_CHARS = 1_000

/** A new password's length, in characters as people count them; the whole of it counts, however long. */
export const newPasswordSchema = z
  .string()
  .refine((password) => charsOf(password) >= MIN_PASSWORD_CHARS, {
    error: `must have at least ${MIN_PASSWORD_CHARS} characters`,
    abort: true,
  })
  .refine((password) => charsOf(password) <= MAX_PASSWORD_CHARS, {
    error: `must have at most ${MAX_PASSWORD_CHARS} characters`,
  })
  // What is checked in code is published too.
  .meta({ minLength: MIN_PASSWORD_CHARS, maxLength: MAX_PASSWORD_CHARS })

function charsOf(password: string): number {
  // A bound first: counting code points copies the string.
  return password.length > 4 * MAX_PASSWORD_CHARS ? password.length : [...normalize(password)].length
}

const ROWS = [
  '1234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'azertyuiop',
  '01234567890',
  'abcdefghijklmnopqrstuvwxyz',
]
const LONGEST_REPEATED_UNIT = 8
const SHORTEST_STEP = 3

/**
 * Whether a password is among the first that anybody would try: on the list of the 50,000 most common ones, such
 * a one with digits or signs at its end, one short unit again and again, or a walk along the keyboard.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  const text = normalize(password).toLowerCase()
  if (isRepetition(text) || isWalk(text)) return true
  // Loaded when a password is chosen, which is seldom: it takes 20 ms and a few megabytes.
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  const common = new Set<string | number>(dictionary['passwords-common'])
  return common.has(text) || common.has(text.replace(/(?<!\P{L})\P{L}+$/u, ''))
}

function isRepetition(text: string): boolean {
  for (let unit = 1; unit <= Math.min(LONGEST_REPEATED_UNIT, text.length / 2); unit += 1) {
    if (
      text ===
      text
        .slice(0, unit)
        .repeat(Math.ceil(text.length / unit))
        .slice(0, text.length)
    )
      return true
  }
  return false
}

/** Made of whole rows of keys or their beginnings, forwards or backwards: `123456789012`, `qwertyuiopas`. */
function isWalk(text: string): boolean {
  const steps = ROWS.flatMap((row) => [row, [...row].reverse().join('')])
  let rest = text
  while (rest !== '') {
    const taken = Math.max(...steps.map((row) => stepAlong(row, rest)))
    if (taken < SHORTEST_STEP && taken < rest.length) return false
    rest = rest.slice(taken)
  }
  return true
}

/** How many characters at the beginning of `text` run along `row`, from any of its places. */
function stepAlong(row: string, text: string): number {
  const start = row.indexOf(text.charAt(0))
  if (start < 0) return 0
  let length = 0
  while (length < text.length && start + length < row.length && text[length] === row[start + length])
    length += 1
  return length
}
