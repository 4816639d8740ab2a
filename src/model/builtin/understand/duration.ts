import { cut, readNumber } from './clock.ts'

const NUMBER =
  '(?:\\d{1,6}(?:[.,]\\d{1,3})?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty(?:[- ]five)?|thirty|forty(?:[- ]five)?|fifty|sixty|ninety)'
const UNIT = '(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h)'
const PART = `(?:\\d{1,2}h\\d{2}|half an? ${UNIT}|a? ?quarter of an hour|three quarters of an hour|(?:a )?couple (?:of )?${UNIT}|${NUMBER}[ -]?(?:and a half )?${UNIT}(?: and a half)?)`
const SPAN = `${PART}(?:(?:,? and |, | )?${PART}){0,2}`
const PARTS = new RegExp(PART, 'gi')

const INTRODUCED = new RegExp(`\\b(?:in|for|after|of)(?: about)? (${SPAN})(?![\\p{L}\\p{N}])`, 'iu')
const FOLLOWED = new RegExp(
  `(?<![\\p{L}\\p{N}])(${SPAN})(?: from now| later|(?=[ -](?:timer|alarm|countdown|reminder)\\b))`,
  'iu',
)
const ALONE = new RegExp(`^(${SPAN})[.!]?$`, 'iu')

/**
 * The first span of seconds, minutes and hours in a text ("in an hour and a half", "10 minute timer"), and the text
 * without it. Days and weeks are dates, not spans: daylight saving would shift them.
 */
export function takeDuration(text: string): { seconds: number; rest: string } | null {
  for (const pattern of [INTRODUCED, FOLLOWED, ALONE]) {
    const found = pattern.exec(text)
    const seconds = found?.[1] === undefined ? null : readSpan(found[1])
    if (found && seconds !== null && seconds > 0) return { seconds, rest: cut(text, found) }
  }
  return null
}

function readSpan(text: string): number | null {
  let seconds = 0
  for (const [part] of text.matchAll(PARTS)) {
    const of = readPart(part.toLowerCase())
    if (of === null) return null
    seconds += of
  }
  return seconds
}

function readPart(part: string): number | null {
  if (part.startsWith('three quarters')) return 2700
  if (part.includes('quarter of an hour')) return 900
  const [, hours, minutes] = /^(\d{1,2})h(\d{2})$/.exec(part) ?? []
  if (hours !== undefined) return Number(hours) * 3600 + Number(minutes) * 60
  const unit = unitSeconds(part)
  if (part.startsWith('half')) return unit / 2
  if (part.includes('couple')) return unit * 2
  const number = new RegExp(`^${NUMBER}`, 'i').exec(part)?.[0]
  const count = number === undefined ? null : readNumber(number)
  if (count === null) return null
  return (count + (part.includes('and a half') ? 0.5 : 0)) * unit
}

function unitSeconds(part: string): number {
  const letter = new RegExp(`(${UNIT})(?: and a half)?$`, 'i').exec(part)?.[1]?.[0]
  return letter === 'h' ? 3600 : letter === 'm' ? 60 : 1
}
