import { DAY_MS } from '../../../lib/time.ts'
import { findAnswers } from '../facts.ts'
import { type Present, type Steps, type StepsTo, use, type World } from '../intent.ts'
import {
  daysUntil,
  formatDay,
  formatMoment,
  formatRecorded,
  midnightOf,
  today,
  wallMs,
} from '../local-time.ts'
import { WEEKDAYS } from '../recurrence.ts'
import { type Outcome, type TimerResult, whyNot } from '../results.ts'
import { bullets, isQuestion, isStatement, tidy, toYou } from '../text.ts'
import { datesIn, takeWhen } from '../when.ts'
import { isStopWord, wordsOf } from '../words.ts'

export const NO_TIMERS = 'You have no reminders or timers.'
export const NO_SUCH = (words: string) => (words === '' ? NO_TIMERS : `I found no reminder about “${words}”.`)

export const formatDue = (timer: TimerResult | undefined, present: Present, tell = formatMoment) =>
  formatRecorded(timer?.dueAt, present, tell) ?? 'then'

/** "Run: tomorrow at 09:00, repeating". */
export function lineOf(timer: TimerResult, present: Present): string {
  return `${timer.title ?? 'Timer'}: ${formatDue(timer, present)}${timer.recurrence ? ', repeating' : ''}`
}

type Span = readonly [first: number, last: number]

/** The first and the last day ahead. */
const SPANS: Readonly<Record<string, (present: Present) => Span>> = {
  today: () => [0, 0],
  tonight: () => [0, 0],
  tomorrow: () => [1, 1],
  'this week': () => [0, 6],
  'my week': () => [0, 6],
  'next week': (present) => {
    const monday = (8 - new Date(today(present)).getUTCDay()) % 7 || 7
    return [monday, monday + 6]
  },
  ...Object.fromEntries(
    WEEKDAYS.map((name, day) => [
      name.toLowerCase(),
      (present: Present) => {
        const ahead = (day + 7 - new Date(today(present)).getUTCDay()) % 7
        return [ahead, ahead] as const
      },
    ]),
  ),
}
export const SPAN = `(${Object.keys(SPANS).join('|')})`

const NAMED = new RegExp(`\\b${SPAN}\\b`, 'i')

/** The days that a text names; null if it names none, or says more than `isMore` lets it say beside them. */
function spanOf(text: string, present: Present, isMore: (word: string) => boolean): Span | null {
  const isAlone = (rest: string) => wordsOf(rest).every(isMore)
  const name = NAMED.exec(text)?.[1]
  if (name !== undefined && isAlone(text.replace(name, '')))
    return SPANS[name.toLowerCase()]?.(present) ?? null
  const when = takeWhen(text, present, { early: false })
  if (when?.kind !== 'at' || !when.isDay || !isAlone(when.rest)) return null
  const ahead = Math.round((midnightOf(Date.parse(`${when.local}Z`)) - today(present)) / DAY_MS)
  return [ahead, ahead]
}

const SMALL_WORDS = /^(?:the|my|to|at|for|a|an|about|of|on|ones?|)$/

export const wordsIn = (text: string) =>
  text
    .toLowerCase()
    .split(' ')
    .filter((word) => !SMALL_WORDS.test(word))

const FOR = /^(?:(?:on|for|due|in|about|to) )+/i

/** The reminders on the days named, or with these words in their title. */
export function agenda(said: string, world: World): Steps {
  const words = tidy(said).replace(FOR, '')
  return listed(
    words,
    spanOf(words, world.present, () => false),
    false,
    world,
  )
}

const IS_PAST = /\b(?:did|was|were|had)\b/i

/** What a question about a day says beside the day. */
const OF_A_DAY =
  /^(?:agenda|anything|busy|calendar|coming|diary|due|free|going|happening|list|planned|plans?|schedule|something)$/

/**
 * Answers a question that names nothing but days ahead, with the reminders and with what the owner said of them: "What
 * is happening on Saturday?". Null for other questions.
 */
export function agendaAsked(question: string, world: World): Steps | null {
  if (IS_PAST.test(question)) return null
  // "How does Friday look?" and "what do I need to do?", but not "what do I like to do?".
  const plain = question.replace(/ (?:looks?|(?:look )?like)\W{0,3}$| need(?= to do\b)/i, '')
  const span = spanOf(plain, world.present, (word) => isStopWord(word) || OF_A_DAY.test(word))
  return span === null || span[0] < 0 ? null : listed('', span, true, world)
}

function* listed(words: string, span: Span | null, withTold: boolean, world: World): Steps {
  const { present } = world
  const outcome = yield* use('list_timers', {})
  if (!outcome.ok) return whyNot(outcome)
  const due = linesIn(outcome, span ?? ALL, span === null ? wordsIn(words) : [], present)
  const told = span === null || !withTold ? [] : yield* toldOf(span, world)
  const lines = [...due, ...told.filter((text) => !due.some((line) => isSame(line, text)))]
  if (lines.length > 0) return bullets(lines)
  return span === null ? NO_SUCH(words) : `Nothing is due ${wordsOfSpan(span, present)}.`
}

function wordsOfSpan([first, last]: Span, present: Present): string {
  if (last > first) return first === 0 ? 'this week' : 'next week'
  const zone = { now: new Date(wallMs(present)), timezone: 'UTC' }
  return formatDay(new Date(today(present) + first * DAY_MS), { ...present, ...zone })
}

const ALL: Span = [0, Number.POSITIVE_INFINITY]

/** Whether a reminder's line says the same as what the owner told: all words of its title occur there. */
function isSame(line: string, told: string): boolean {
  const [words, title] = [wordsOf(told), wordsOf(line.replace(/: .*$/s, ''))]
  return title.length > 0 && title.every((word) => words.includes(word))
}

/** Whether the title of a reminder has these words. */
export const titledWith =
  (words: readonly string[]) =>
  ({ title = '' }: TimerResult): boolean =>
    words.every((word) => title.toLowerCase().includes(word))

/** The reminders on these days with these words. */
function linesIn(
  { timers, open }: Outcome,
  [first, last]: Span,
  words: string[],
  present: Present,
): string[] {
  const isMeant = titledWith(words)
  const overdue = first === 0 ? open.filter(isMeant) : []
  const due = timers.filter((timer) => {
    const days = daysUntil(new Date(timer.dueAt ?? ''), present)
    return isMeant(timer) && days >= first && days <= last
  })
  return [
    ...overdue.map((timer) => `${timer.title ?? 'Timer'}: was due ${formatDue(timer, present)}`),
    ...due.map((timer) => lineOf(timer, present)),
  ]
}

/** What the owner said about these days, as lines. */
function* toldOf(span: Span, { can, present }: World): StepsTo<string[]> {
  if (!can('search_timeline')) return []
  const [first, last] = span
  const days = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const names = days.flatMap((day) => [named(day, present, 'weekday'), named(day, present, 'month')])
  const queries = new Set([null, 'tomorrow', ...names])
  const results = yield [...queries].map((query) => ({ name: 'search_timeline', args: { query } }))
  const lines = results
    .flatMap(({ hits }) => hits)
    .filter(({ who, text = '', at = '' }) => who === 'owner' && isTold(text) && isOn(span, text, at, present))
    .map(({ text = '', at }) => `You told me ${formatRecorded(at, present, formatDay)}: ${toYou(text)}`)
  return [...new Set(lines)]
}

/** A statement that asked for no reminder, which would be listed twice. */
const isTold = (text: string) => isStatement(text) && !isQuestion(text) && withoutReminder(text) === text

/** "The dentist is at 5, remind me" tells something before it asks. */
export const withoutReminder = (text: string) =>
  text.replace(
    /(?:[,.;]? (?:(?:and|so|please|(?:can|could|will) you) ){0,3})?\b(?:remind me|(?:don['’]?t )?let me forget)\b.*$/is,
    '',
  )

/** Whether a text names one of these days. "Thursday" is the first one after the text was said. */
function isOn([first, last]: Span, text: string, saidAt: string, present: Present): boolean {
  const dates = datesIn(text, { ...present, now: new Date(saidAt) })
  const days = dates.filter(({ start }) => start.isCertain('day') || start.isCertain('weekday'))
  return days.some(
    ({ start, end }) =>
      daysUntil(start.date(), present) <= last && daysUntil((end ?? start).date(), present) >= first,
  )
}

const named = (ahead: number, present: Present, part: 'weekday' | 'month') =>
  new Intl.DateTimeFormat('en', { [part]: 'long', timeZone: 'UTC' }).format(today(present) + ahead * DAY_MS)

/** The reminders of today, as lines. */
export function* dueToday({ present }: World): StepsTo<string[]> {
  return linesIn(yield* use('list_timers', {}), [0, 0], [], present)
}

/** Words that ask for a time or a plan. */
const ASKS_WHEN = /^(?:when|what (?:time|day)|tell me)\b|^(?:do|am|is|have) /i

/** The reminders that answer a question, as lines: "When do I have to pick up the kids?". */
export function* dueFor(question: string, { can, present }: World): StepsTo<string[]> {
  if (!ASKS_WHEN.test(question) || IS_PAST.test(question) || !can('list_timers')) return []
  const { timers, open } = yield* use('list_timers', {})
  const facts = [...open, ...timers].map((timer) => ({ text: lineOf(timer, present), at: null }))
  return findAnswers(question, facts).map(({ text }) => text)
}
