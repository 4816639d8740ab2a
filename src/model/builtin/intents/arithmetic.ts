import { localeOf } from '../../../language/languages.ts'
import { type Intent, on } from '../intent.ts'
import { withoutEnd } from '../text.ts'

const MAX_CHARS = 200
const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')

/** Replacements of words by operators, applied in order. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/(\d),(?=\d{3}(?!\d))/g, '$1'],
  ...NUMBERS.map((name, number) => [new RegExp(`\\b${name}\\b`, 'g'), String(number)] as const),
  [/\b(?:plus|and)\b/g, '+'],
  [/\bminus\b/g, '-'],
  [/\b(?:times|multiplied by)\b|[×·]|(?<=\d ?)x(?= ?\d)/g, '*'],
  [/\b(?:divided by|over)\b|[÷:]/g, '/'],
  [/\bto the power of\b|\*\*/g, '^'],
  [/\bsquared\b/g, '^2'],
  [/\bcubed\b/g, '^3'],
  [/\bhalf of\b/g, '0.5*'],
  [/(\d{1,9})\/(\d{1,9}) of\b/g, '($1/$2)*'],
  [/\b(?:the )?square root of\b|\bsqrt\b/g, '√'],
  [/ ?(?:percent|per cent|%)(?: [a-z]+)? (?:of|on)\b/g, '/100*'],
  [/ ?(?:percent|per cent)\b/g, '%'],
]

/** Evaluates a calculation; null for anything else, such as a single number. */
export function calculate(words: string): number | null {
  if (words.length > MAX_CHARS) return null
  const text = SIGNS.reduce((so, [from, to]) => so.replace(from, to), words.toLowerCase())
  const tokens = text.match(/[\d.]+|[^ ]/g) ?? []
  if (!/[-+*/^%√]/.test(text)) return null
  const value = evaluate(tokens)
  return Number.isNaN(value) ? null : value
}

/** Precedence climbing; NaN if invalid. "100 + 10%" is 110. */
function evaluate(tokens: readonly string[]): number {
  let at = 0
  const accept = (token: string) => tokens[at] === token && ++at > 0

  function operand(): number {
    if (accept('-')) return -power()
    if (accept('√')) return Math.sqrt(power())
    if (accept('(')) {
      const value = sum()
      return accept(')') ? value : Number.NaN
    }
    at += 1
    return Number(tokens[at - 1] ?? Number.NaN)
  }
  const power = (): number => {
    const base = operand()
    return accept('^') ? base ** power() : base
  }
  /** Left-associative operations of one precedence. Each operation reads its right operand. */
  function chain(value: number, operations: Readonly<Record<string, (left: number) => number>>): number {
    const apply = operations[tokens[at] ?? '']
    if (!apply) return value
    at += 1
    return chain(apply(value), operations)
  }
  const product = () => chain(power(), { '*': (left) => left * power(), '/': (left) => left / power() })
  const sum = () =>
    chain(percentOf(1, product()), {
      '+': (left) => left + percentOf(left, product()),
      '-': (left) => left - percentOf(left, product()),
    })
  const percentOf = (whole: number, value: number) => (accept('%') ? (whole * value) / 100 : value)
  const value = sum()
  return at === tokens.length ? value : Number.NaN
}

/** A sum of money keeps its cents: "20% of 48.50" is 9.70. */
function digitsFor(sum: string, value: number): Intl.NumberFormatOptions {
  const isMoney = /\d\.\d\d(?!\d)/.test(sum) && Number(value.toFixed(2)) === Number(value.toFixed(6))
  return { minimumFractionDigits: isMoney ? 2 : 0, maximumFractionDigits: 6 }
}

const SUM = `(?:what(?:'s| is| are)|whats|how much (?:is|are)|add(?: up)?|calculate|compute|work out|solve|evaluate)? ?(?:an? (?=[\\d.]+ ?(?:%|percent|per cent)))?((?:[\\d(.√-]|half of|(?:the )?square root|sqrt|(?:${NUMBERS.join('|')})\\b).*)`

export const arithmeticIntent: Intent = on(SUM, ([words = ''], { present }) => {
  const sum = withoutEnd(words, /[\s?.!=]/)
  const value = calculate(sum)
  if (value === null) return null
  return Number.isFinite(value)
    ? `${sum} = ${value.toLocaleString(localeOf(present.language), digitsFor(sum, value))}`
    : 'Nothing can be divided by zero.'
})
