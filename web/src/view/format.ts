/** Everything that is shown as a number or a time, in the browser's locale and time zone. */

const time = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })
const day = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })
const dayWithYear = new Intl.DateTimeFormat(undefined, {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
})
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' })
const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const count = new Intl.NumberFormat()
const oneDigit = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

function validDate(at: string): Date | null {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? null : date
}

function formatted(at: string, format: Intl.DateTimeFormat): string {
  const date = validDate(at)
  return date ? format.format(date) : at
}

export const timeText = (at: string) => formatted(at, time)
/** The whole moment, to the second: what a tooltip says. */
export const fullTimeText = (at: string) => formatted(at, full)
export const shortDateText = (at: string) => formatted(at, short)
export const countText = (value: number) => count.format(value)

/** The local calendar day: equal for two moments exactly when they fall on the same one. */
export function dayKey(at: string): string {
  const date = validDate(at)
  return date ? `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}` : at
}

/** "Today", "Yesterday", or the date; the year only where it is not this one. */
export function dayText(at: string, now: Date): string {
  const date = validDate(at)
  if (!date) return at
  const key = dayKey(at)
  if (key === dayKey(now.toISOString())) return 'Today'
  const yesterday = new Date(now)
  yesterday.setDate(now.getDate() - 1)
  if (key === dayKey(yesterday.toISOString())) return 'Yesterday'
  return (date.getFullYear() === now.getFullYear() ? day : dayWithYear).format(date)
}

export function durationText(durationMs: number): string {
  const ms = Math.max(1, Math.round(durationMs))
  if (ms < 1000) return `${ms} ms`
  const tenths = Math.round(durationMs / 100)
  if (tenths < 600) return `${oneDigit.format(tenths / 10)} s`
  const seconds = Math.round(durationMs / 1000)
  const minutes = Math.floor(seconds / 60)
  const rest = seconds % 60
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 ** 2) return `${oneDigit.format(bytes / 1024)} KB`
  return `${oneDigit.format(bytes / 1024 ** 2)} MB`
}

/** "1 memory", "3 memories". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count.format(value)} ${value === 1 ? one : many}`
}

/** With a capital: the beginning of a line, or a name. */
export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A snake_case or dotted word of the service, as prose: "rate_limited" → "rate limited". */
export function wordsText(word: string): string {
  return word.replaceAll(/[_.-]+/g, ' ')
}

/** JSON indented where it is JSON; as it is otherwise. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
