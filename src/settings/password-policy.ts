import { normalize } from './new-password.ts'

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
 * Whether a password is one of the first that anyone would try: one of the 50,000 most common (also with
 * digits or signs appended), a repeated short unit, or a walk along the keyboard.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  const text = normalize(password).toLowerCase()
  if (isRepetition(text) || isWalk(text)) return true
  // Loaded on demand, because it takes 20 ms and a few megabytes and is rarely needed.
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

/** Whether the text runs along rows of keys, in either direction: `123456789012`, `qwertyuiopas`. */
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

/** How many leading characters of `text` run along `row`, from any place in it. */
function stepAlong(row: string, text: string): number {
  const start = row.indexOf(text.charAt(0))
  if (start < 0) return 0
  let length = 0
  while (length < text.length && start + length < row.length && text[length] === row[start + length])
    length += 1
  return length
}
