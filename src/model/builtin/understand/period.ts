import { fromWallMs, toLocalIso, toWallMs, wallClock } from '../local-time.ts'
import type { Present } from '../plan.ts'

/** Days as `YYYY-MM-DD`, both included. */
export type Days = { readonly from: string; readonly to: string }

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
/** A past period in words, the present day among them. */
export const PERIOD =
  '(?:(?:earlier |so far )?today(?: so far)?|this (?:morning|afternoon|evening)|tonight|(?:the )?day before yesterday|yesterday(?: (?:morning|afternoon|evening|night))?|last night|(?:this|last|the past|the last|past) (?:week|month)|the (?:last|past) (?:few|\\d{1,3}) days|(?:last |this )?(?:sun|mon|tues|wednes|thurs|fri|satur)day)'
const AT_END = new RegExp(`(?:^|\\s)(?:(?:on|from|during|in|over) )?(${PERIOD})[?.!\\s]*$`, 'i')

const DAY_MS = 86_400_000

/** The period at the end of a text, and the text without it; null where none is told there. */
export function takePeriod(text: string, present: Present): { days: Days; rest: string } | null {
  const found = AT_END.exec(text)
  if (!found?.[1]) return null
  return { days: daysOf(found[1], present), rest: text.slice(0, found.index).trim() }
}

/** The days that a period in words is. */
export function daysOf(words: string, { now, timezone }: Present): Days {
  const today = toWallMs({ ...wallClock(now, timezone), hour: 0, minute: 0 })
  const day = (ms: number) => toLocalIso(fromWallMs(ms)).slice(0, 10)
  const days = (fromAgo: number, toAgo: number) => ({
    from: day(today - fromAgo * DAY_MS),
    to: day(today - toAgo * DAY_MS),
  })
  const period = words.toLowerCase()
  if (period.includes('before yesterday')) return days(2, 2)
  if (/yesterday|last night/.test(period)) return days(1, 1)
  const weekday = WEEKDAYS.findIndex((name) => period.endsWith(name))
  const ofWeek = new Date(today).getUTCDay()
  if (weekday >= 0) {
    const ago = (ofWeek - weekday + 7) % 7
    return ago === 0 && period.startsWith('last') ? days(7, 7) : days(ago, ago)
  }
  const sinceMonday = (ofWeek + 6) % 7
  const { day: ofMonth } = fromWallMs(today)
  if (/^(?:the )?past week|^the last week/.test(period)) return days(6, 0)
  if (/^(?:the )?past month|^the last month/.test(period)) return days(29, 0)
  if (period === 'this week') return days(sinceMonday, 0)
  if (period === 'last week') return days(sinceMonday + 7, sinceMonday + 1)
  if (period === 'this month') return days(ofMonth - 1, 0)
  if (period === 'last month') {
    const { day: length } = fromWallMs(today - ofMonth * DAY_MS)
    return days(ofMonth - 1 + length, ofMonth)
  }
  const count = / days$/.test(period) ? Number(/\d+/.exec(period)?.[0] ?? 3) : 1
  return days(Math.max(count, 1) - 1, 0)
}
