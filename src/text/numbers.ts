import { foldText } from './text.ts'

/**
 * Converts digits of any script to ASCII. Unicode's digit blocks start at a multiple of 16, or 10 above one.
 */
export function toAsciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    if (/\d/.test(digit)) return digit
    const code = digit.codePointAt(0) ?? 0
    let zero = code
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && code - zero < 9) zero -= 1
    return String(code - zero)
  })
}

const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
const TENS = 'thirty forty fifty sixty seventy eighty ninety'
const VALUES: ReadonlyMap<string, number> = new Map([
  ...SMALL.split(' ').map((word, value) => [word, value] as const),
  ...TENS.split(' ').map((word, index) => [word, (index + 3) * 10] as const),
])

const TOKEN = /[\p{L}\p{M}\p{N}]+/gu
/** A phone number has no more parts; limits the work. */
const MAX_RUN = 16

/**
 * The numbers and codes of a text ("WX14", "B12", "0170"), folded, in runs of consecutive ones. English number
 * words up to ninety are digits; "3rd" is 3, and "07" is 7.
 */
export function numberRuns(text: string): string[][] {
  const runs: string[][] = []
  let isOpen = false
  for (const [token] of toAsciiDigits(foldText(text)).matchAll(TOKEN)) {
    const number = String(VALUES.get(token) ?? token)
    if (/\d/.test(number)) {
      const plain = number.replace(/^(\d+)(?:st|nd|rd|th)$/, '$1')
      if (isOpen) runs.at(-1)?.push(plain)
      else runs.push([plain])
    }
    isOpen = /\d/.test(number)
  }
  return runs
}

/** Whether a text's numbers all occur among others: one by one, or written together ("0170 123" in "0170123"). */
export function hasNumbers(given: readonly (readonly string[])[], text: string): boolean {
  const held = new Set(given.flatMap(partsOf))
  return numberRuns(text).every(
    (run) => held.has(run.join('')) || run.every((number) => held.has(withoutZeros(number))),
  )
}

/** Each number of a run, and each that consecutive ones make together. */
function partsOf(run: readonly string[]): string[] {
  const parts: string[] = []
  for (let from = 0; from < run.length; from += 1) {
    for (let to = from + 1; to <= Math.min(run.length, from + MAX_RUN); to += 1) {
      const part = run.slice(from, to).join('')
      parts.push(part, withoutZeros(part))
    }
  }
  return parts
}

const withoutZeros = (number: string) => (/^\d+$/.test(number) ? number.replace(/^0+/, '') || '0' : number)
