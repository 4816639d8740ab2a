const NUMBER_WORDS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  thirteen: 13,
  fourteen: 14,
  fifteen: 15,
  sixteen: 16,
  seventeen: 17,
  eighteen: 18,
  nineteen: 19,
  twenty: 20,
  'twenty five': 25,
  thirty: 30,
  'thirty five': 35,
  forty: 40,
  'forty five': 45,
  fifty: 50,
  sixty: 60,
  ninety: 90,
}

/** A number in digits or in words; null for anything else. */
export function readNumber(text: string): number | null {
  const plain = text.toLowerCase().replace(/-/g, ' ').trim()
  if (/^\d{1,6}(?:[.,]\d{1,3})?$/.test(plain)) return Number(plain.replace(',', '.'))
  return NUMBER_WORDS[plain] ?? null
}

const HOURS = '(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)'
const HOUR = `(?:\\d{1,2}|${HOURS})`

/**
 * The same text with times of day in digits, so that one reader suffices: "half past seven" becomes "7:30", "quarter to
 * nine" "8:45", "at seven" "at 7", "at noon" stays.
 */
export function digitiseClock(text: string): string {
  return text
    .replace(/\b(\d{1,2}) ([0-5]\d)(?=\s?(?:am|pm|a\.m|p\.m))/gi, '$1:$2')
    .replace(new RegExp(`\\bhalf (?:past )?(${HOUR})\\b`, 'gi'), (all, hour: string) =>
      clockText(hour, 30, all),
    )
    .replace(new RegExp(`\\b(?:a )?quarter past (${HOUR})\\b`, 'gi'), (all, hour: string) =>
      clockText(hour, 15, all),
    )
    .replace(new RegExp(`\\b(?:a )?quarter to (${HOUR})\\b`, 'gi'), (all, hour: string) =>
      clockText(hour, -15, all),
    )
    .replace(
      new RegExp(`\\b(\\d{1,2}) (?:minutes )?past (${HOUR})\\b`, 'gi'),
      (all, minute: string, hour: string) => clockText(hour, Number(minute), all),
    )
    .replace(
      new RegExp(`\\b(\\d{1,2}) (?:minutes )?to (${HOUR})(?= |$)(?! (?:people|of))`, 'gi'),
      (all, minute: string, hour: string) => clockText(hour, -Number(minute), all),
    )
    .replace(
      new RegExp(`\\b(at|by|around|about|before|until) (${HOURS})\\b`, 'gi'),
      (_all, word: string, hour: string) => `${word} ${readNumber(hour)}`,
    )
    .replace(
      /\b(at|by|around) (\d{1,2})h(\d{2})?\b/gi,
      (_all, word: string, hour: string, minute = '00') => `${word} ${hour}:${minute}`,
    )
}

function clockText(hour: string, minutes: number, otherwise: string): string {
  const hours = readNumber(hour)
  if (hours === null || hours > 24 || Math.abs(minutes) > 59) return otherwise
  const total = (((hours * 60 + minutes) % 1440) + 1440) % 1440
  const ofDay = total < 60 && hours <= 12 ? total + 720 : total
  return `${Math.floor(ofDay / 60)}:${String(ofDay % 60).padStart(2, '0')}`
}

export type Clock = { readonly hour: number; readonly minute: number }

const MERIDIEM = "(?:\\s*(am|pm|a\\.m\\.?|p\\.m\\.?))?(?:\\s*o'clock)?(?=[\\s,.!?]|$)"
/** A bare number is a time only after "at" or "by". */
const CLOCKS = [
  new RegExp(`\\b(?:at|by) (\\d{1,2})(?:[:.](\\d{2}))?${MERIDIEM}`, 'i'),
  new RegExp(`\\b(\\d{1,2})[:.](\\d{2})${MERIDIEM}`, 'i'),
  new RegExp(`\\b(\\d{1,2})()(?= ?(?:am|pm|a\\.m|p\\.m|o'clock))${MERIDIEM}`, 'i'),
]

/** The first time of day in a text, and the text without it. An hour from 1 to 6 with no other hint is taken for afternoon. */
export function takeClock(
  text: string,
  options: { readonly early: boolean },
): { clock: Clock; rest: string } | null {
  const named = /\b(?:at |by )?(noon|midday|midnight)\b/i.exec(text)
  if (named) {
    return {
      clock: { hour: named[1]?.toLowerCase() === 'midnight' ? 0 : 12, minute: 0 },
      rest: cut(text, named),
    }
  }
  for (const pattern of CLOCKS) {
    const found = pattern.exec(text)
    if (!found) continue
    const [, hour = '', minute, meridiem] = found
    const clock = toClock(Number(hour), Number(minute || '0'), {
      meridiem: meridiem?.toLowerCase().startsWith('p') ? 'pm' : meridiem ? 'am' : null,
      isExact: hour.startsWith('0'),
      early: options.early,
    })
    if (clock) return { clock, rest: cut(text, found) }
  }
  return null
}

function toClock(
  hour: number,
  minute: number,
  hint: { readonly meridiem: 'am' | 'pm' | null; readonly isExact: boolean; readonly early: boolean },
): Clock | null {
  if (hour > 23 || minute > 59) return null
  if (hint.meridiem !== null && hour > 12) return null
  if (hint.meridiem === 'pm') return { hour: (hour % 12) + 12, minute }
  if (hint.meridiem === 'am') return { hour: hour % 12, minute }
  const isAfternoon = hour >= 1 && hour <= 6 && !hint.isExact && !hint.early
  return { hour: isAfternoon ? hour + 12 : hour, minute }
}

/** The text without what a pattern found in it. */
export function cut(text: string, match: RegExpExecArray): string {
  return `${text.slice(0, match.index)} ${text.slice(match.index + match[0].length)}`
    .replace(/\s+/g, ' ')
    .trim()
}
