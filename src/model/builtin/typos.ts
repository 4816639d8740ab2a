export const LIST_WORDS: ReadonlySet<string> = new Set('shopping grocery groceries packing list'.split(' '))

/** Command words that few other English words resemble, so a guess is safe. */
const COMMAND_WORDS = new Set(
  `remind remember reminder forget delete remove cancel create shopping timer alarm note notes
  list lists memory memories search timeline timers reminders hello thanks thank what when where many about called
  does show until`.split(/\s+/),
)

export const TIME_WORDS: ReadonlySet<string> = new Set(
  `tomorrow tonight yesterday minutes seconds monday tuesday wednesday thursday friday saturday sunday weekday weekdays
  weekend morning afternoon evening january february september october november december christmas`.split(
    /\s+/,
  ),
)

const WORD = /[a-z]{4,14}/gi

/** Misspelt double letters are common: "tommorow". */
const single = (word: string) => word.replace(/(.)\1/g, '$1')

/** Whether the words differ by one changed, added, dropped or swapped letter. */
function isOneOff(a: string, b: string): boolean {
  if (single(a) === single(b)) return a !== b
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  if (left.length <= 1 && right.length <= 1) return true
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0]
}

function guess(word: string, words: ReadonlySet<string>): string | null {
  const plain = word.toLowerCase()
  if (words.has(plain) || words.has(plain.replace(/s$/, ''))) return null
  const [near, ...others] = [...words].filter((each) => isOneOff(plain, each))
  return near !== undefined && others.every((each) => `${each}s` === near || each === `${near}s`)
    ? near
    : null
}

/** Corrects every word that is one letter off. */
export function repairWords(text: string, words: ReadonlySet<string> = COMMAND_WORDS): string {
  return text.replace(WORD, (word) => guess(word, words) ?? word)
}

const MAX_CHARS = 300

/** Yields the text with one misspelt command word corrected, then two, and so on. */
export function* repairsOf(text: string): Generator<string> {
  let repaired = text
  for (const [word] of text.length > MAX_CHARS ? [] : text.matchAll(WORD)) {
    const right = guess(word, COMMAND_WORDS) ?? guess(word, TIME_WORDS)
    if (right === null) continue
    repaired = repaired.replace(word, right)
    yield repaired
  }
}
