import { type Present, type StepsTo, use, type World } from '../intent.ts'
import { midnightOf, wallMs } from '../local-time.ts'
import type { TimerResult } from '../results.ts'
import { bullets, toYou } from '../text.ts'
import { takeWhen } from '../when.ts'
import { lineOf, titledWith, wordsIn } from './agenda.ts'

export const KIND = '(?:timer|alarm|reminder|countdown)'

const IS_KIND = new RegExp(`^${KIND}$`, 'i')

export const HALF_DAY_MS = 43_200_000

/** What stands for the reminder that was due last, or joins its name and the time. */
const NAMELESS =
  /^(?:that|it|this|one|until|till|by|back|forward|up|later|earlier|sooner|reminders?|timers?|alarms?|countdowns?)$/

/** The words that name a reminder. */
export const naming = (text: string) => wordsIn(text).filter((word) => !NAMELESS.test(word))

/** The reminders with these words that go off at the time or on the day in them, as in "my 6:30 alarm". */
export function* thoseAt(words: string, { present }: World): StepsTo<readonly TimerResult[]> {
  const when = takeWhen(words, present, { early: false })
  if (when?.kind !== 'at') return []
  const { timers } = yield* use('list_timers', {})
  const clock = (ms: number) => Math.floor((ms % HALF_DAY_MS) / 60_000)
  const wantedMs = Date.parse(`${when.local}Z`)
  const isNamed = titledWith(naming(when.rest))
  return timers.filter((timer) => {
    const { dueAt = '' } = timer
    const ms = wallMs({ ...present, now: new Date(dueAt) })
    const isThen =
      (when.isDay || clock(ms) === clock(wantedMs)) &&
      (when.isClock || midnightOf(ms) === midnightOf(wantedMs))
    return isThen && isNamed(timer)
  })
}

/** The reminder with these words, or without words the one that the last reply names; undefined unless it is one. */
export function* findNamed(words: readonly string[], { conversation: { past } }: World) {
  const reply = past[0]?.reply.toLowerCase() ?? ''
  if (words.length === 0 && reply === '') return undefined
  const { timers, open } = yield* use('list_timers', {})
  const all = [...open, ...timers]
  const named = all.filter(
    words.length === 0 ? ({ title = '' }) => reply.includes(toYou(title).toLowerCase()) : titledWith(words),
  )
  // Every reply about a timer has the title "Timer".
  const telling = words.length === 0 ? named.filter(({ title = '' }) => !IS_KIND.test(title)) : named
  const meant = [telling, named].find(({ length }) => length > 0) ?? (words.length === 0 ? all : [])
  return meant.length === 1 ? meant[0] : undefined
}

export const choiceOf = (question: string, timers: readonly TimerResult[], present: Present) =>
  `${question}\n\n${bullets(timers.map((timer) => lineOf(timer, present)))}`
