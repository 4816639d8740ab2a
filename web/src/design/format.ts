import { locale, msg, translated } from './msg.ts'
import { ownerFormat } from './owner-time.ts'

/** Text for numbers, times and identifiers. */

const time = ownerFormat({ hour: '2-digit', minute: '2-digit' })
const day = ownerFormat({ weekday: 'long', day: 'numeric', month: 'long' })
const dayWithYear = ownerFormat({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const full = ownerFormat({ dateStyle: 'full', timeStyle: 'medium' })
const short = ownerFormat({ dateStyle: 'medium', timeStyle: 'short' })
/** `en-CA` formats dates as ISO 8601. */
const isoDay = ownerFormat({ year: 'numeric', month: '2-digit', day: '2-digit' }, 'en-CA')
const count = new Intl.NumberFormat(locale)
const list = new Intl.ListFormat(locale)
const oneDigit = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })

function formatted(at: string, format: (at: Date) => string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? at : format(date)
}

export const timeText = (at: string) => formatted(at, time)
/** Date and time to the second, for tooltips. */
export const fullTimeText = (at: string) => formatted(at, full)
export const shortDateText = (at: string) => formatted(at, short)
/** The time alone if it is of today. */
export const momentText = (at: string) =>
  dayKey(at) === dayKey(new Date().toISOString()) ? timeText(at) : shortDateText(at)
export const countText = (value: number) => count.format(value)

/** The day in the owner's time zone, `YYYY-MM-DD`. */
export const dayKey = (at: string) => formatted(at, isoDay)

/** Days since 1970 in the owner's time zone. Clock changes do not affect differences. */
const dayNumber = (at: string) => Date.parse(dayKey(at)) / 86_400_000

/** "Today", "Yesterday", or the date, with the year unless it is the current one. */
export function dayText(at: string, now = new Date()): string {
  const today = now.toISOString()
  const daysAgo = dayNumber(today) - dayNumber(at)
  if (daysAgo === 0) return msg`Today`
  if (daysAgo === 1) return msg`Yesterday`
  return formatted(at, dayKey(at).slice(0, 4) === dayKey(today).slice(0, 4) ? day : dayWithYear)
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

/** "4:05", "1:02:09". */
export function clockText(durationMs: number): string {
  return new Date(Math.max(0, durationMs))
    .toISOString()
    .slice(11, 19)
    .replace(/^(?:00:)?0?/, '')
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 ** 2) return `${oneDigit.format(bytes / 1024)} KB`
  return `${oneDigit.format(bytes / 1024 ** 2)} MB`
}

/** Millionths of a dollar: "$4.20"; small amounts keep two digits: "$0.0031". */
export function dollarsText(micros: number): string {
  const amount = micros / 1_000_000
  const digits = micros === 0 || amount >= 0.1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(amount)))
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(amount)
}

/** "1 memory", "3 memories". */
export function plural(value: number, one: string, many: string): string {
  return `${count.format(value)} ${value === 1 ? one : many}`
}

export function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** An identifier as words: "rate_limited" → "rate limited". */
export const wordsText = (word: string): string => translated(word.replaceAll(/[_.-]+/g, ' '))

/** "Monday, Tuesday and Friday". */
export const listText = (items: readonly string[]): string => list.format(items)

/** Indents JSON; returns any other text unchanged. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const minuteMs = 60_000
const hourMs = 3_600_000
const daysAMonth = 365.25 / 12

const counted = new Intl.RelativeTimeFormat(locale, { numeric: 'always' })
/** Only for days: "next month" would be wrong for a rounded distance. */
const named = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

/** "in 3 hours", "2 days ago", "just now". From 24 hours on, counts days of the owner's calendar. */
export function relativeText(at: string, now = new Date()): string {
  const distanceMs = Date.parse(at) - now.getTime()
  if (Number.isNaN(distanceMs)) return ''
  const minutes = Math.round(distanceMs / minuteMs)
  if (minutes === 0) return distanceMs < 0 ? msg`just now` : msg`now`
  if (Math.abs(minutes) < 60) return counted.format(minutes, 'minute')
  const hours = Math.round(distanceMs / hourMs)
  if (Math.abs(hours) < 24) return counted.format(hours, 'hour')
  const days = dayNumber(at) - dayNumber(now.toISOString())
  if (Math.abs(days) < 30) return named.format(days, 'day')
  const months = Math.round(days / daysAMonth)
  if (Math.abs(months) < 12) return counted.format(months, 'month')
  return counted.format(Math.round(months / 12), 'year')
}
