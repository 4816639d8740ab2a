import {
  type Call,
  firstOf,
  type Intent,
  on,
  type Present,
  type Reply,
  report,
  type Steps,
  type StepsTo,
  use,
  type World,
} from '../intent.ts'
import { daysUntil, formatDay, formatMoment, formatRecorded, today, wallMs } from '../local-time.ts'
import { WEEKDAYS } from '../recurrence.ts'
import { type Outcome, type TimerResult, whyNot } from '../results.ts'
import { bullets, capitalise, tidy, toYou } from '../text.ts'
import { takeWhen, type When } from '../when.ts'
import { WHICH_ONE } from '../wording.ts'

const KIND = '(?:timer|alarm|reminder|countdown)'
const MAX_TITLE_CHARS = 200

type Timing = Exclude<When, { kind: 'impossible' }>

export const ASK_WHEN = 'When?'
export const ASK_WHAT = 'What should I remind you of, and when?'

const FOR_CLOCK =
  /\bfor (?=\d{1,2}(?:[:.]\d{2})?(?: ?[ap]m)?(?:$|,| (?!s\b|secs?|seconds?|m\b|mins?|minutes?|h\b|hrs?|hours?|days?|weeks?|months?|people|\d)))/i

/** `called` is the word that the owner used: "reminder", "timer", "alarm", "countdown", "wake", "tell", … */
function setTimer(words: string, called: string, world: World): Reply {
  const kind = /^(?:timer|alarm|countdown|wake)$/i.test(called) ? called.toLowerCase() : 'reminder'
  const early = kind === 'wake' || kind === 'alarm'
  const text = words.replace(/\s+/g, ' ')
  const when = takeWhen(early ? text.replace(FOR_CLOCK, 'at ') : text, world.present, { early })
  if (when?.kind === 'impossible') return when.why
  if (when) return set(when, kind, world)
  if (titleOf(text) === '' && kind === 'reminder') return ASK_WHAT
  return `${ASK_WHEN} For example “tomorrow at 9” or “in 20 minutes”.`
}

function* set(when: Timing, kind: string, { present }: World): Steps {
  const title = titleOf(when.rest)
  // "Your pasta timer", but "I'll remind you of the pasta".
  const name = kind === 'reminder' ? title : title.replace(/^(?:the|my|our|an?) /i, '')
  const shown = capitalise(name || (kind === 'wake' ? 'Wake up' : kind)).slice(0, MAX_TITLE_CHARS)
  const outcome = yield* use('set_timer', { title: shown.toWellFormed(), ...timingOf(when) })
  if (outcome.reason === 'past') return 'That time is already over.'
  if (!outcome.ok) return whyNot(outcome)
  const told =
    when.kind === 'every'
      ? `${when.words}, first ${formatDue(outcome.timer, present, formatDay)}`
      : formatDue(outcome.timer, present).replace(/^today /, '')
  return `${announce(toYou(name), kind, when.rest)} ${told}.`
}

function announce(name: string, kind: string, rest: string): string {
  if (kind === 'wake') return 'I’ll wake you'
  if (kind !== 'reminder')
    return `Your ${name.toLowerCase().endsWith(kind) ? name : `${name} ${kind}`.trim()} goes off`
  if (name === '') return 'I’ll remind you'
  const link = /^(?:me )?(to|about|of|that) /i.exec(tidy(rest))?.[1]?.toLowerCase()
  return link === undefined ? `I’ll remind you of “${name}”` : `I’ll remind you ${link} ${name}`
}

const formatDue = (timer: TimerResult | undefined, present: Present, tell = formatMoment) =>
  formatRecorded(timer?.dueAt, present, tell) ?? 'then'

function timingOf(when: Timing): Call['args'] {
  if (when.kind === 'at') return { at: when.local }
  return when.kind === 'every' ? { recurrence: when.cron } : { in_minutes: when.seconds / 60 }
}

/** Words to drop at the start of a title. */
const JOINTS = [
  /^(?:called|named|titled|labell?ed|with (?:the )?(?:title|label|name)) /i,
  /^me\b ?/i,
  /^(?:to|that|about|of|for|and|on|at|in)(?: |$)/i,
  /^(?:timer|alarm|reminder|countdown)s?(?: |$)/i,
  /^(?:i|we) (?:have|need|must|should)(?: to)? /i,
]

/** The title: the rest of the text without joining words; "" if nothing remains. */
function titleOf(rest: string): string {
  let title = tidy(rest)
  for (let round = 0; round < 3; round += 1) for (const joint of JOINTS) title = title.replace(joint, '')
  return tidy(title.replace(/ (?:to|for|at|on|in|about|and|that|by|from now)$/i, ''))
}

/** Sets a timer only if the text contains a time. */
function whereTimed(words: string, called: string, world: World): Reply | null {
  return takeWhen(words, world.present, { early: false }) ? setTimer(words, called, world) : null
}

function lineOf(timer: TimerResult, present: Present): string {
  return `${timer.title ?? 'Timer'}: ${formatDue(timer, present)}${timer.recurrence ? ', repeating' : ''}`
}

/** The first and the last day ahead. */
const SPANS: Readonly<Record<string, (present: Present) => readonly [number, number]>> = {
  today: () => [0, 0],
  tomorrow: () => [1, 1],
  'this week': () => [0, 6],
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
const SPAN = `(${Object.keys(SPANS).join('|')})`

const list = ({ present }: World, span = '') =>
  report('list_timers', {}, ({ timers, open }) => {
    const [first, last] = SPANS[span.toLowerCase()]?.(present) ?? [0, Number.POSITIVE_INFINITY]
    const overdue = (first === 0 ? open : []).map(
      (timer) => `${timer.title ?? 'Timer'}: was due ${formatDue(timer, present)}`,
    )
    const due = timers.filter(({ dueAt = '' }) => {
      const days = daysUntil(new Date(dueAt), present)
      return days >= first && days <= last
    })
    const lines = [...overdue, ...due.map((timer) => lineOf(timer, present))]
    if (lines.length > 0) return bullets(lines)
    if (span === '') return NO_TIMERS
    const day = capitalise(span.toLowerCase())
    return `Nothing is due ${WEEKDAYS.includes(day) ? `on ${day}` : span}.`
  })

const NO_TIMERS = 'You have no reminders or timers.'

const SMALL_WORDS = /^(?:the|my|to|at|for|a|an|about|of|)$/

const wordsIn = (text: string) =>
  text
    .toLowerCase()
    .split(' ')
    .filter((word) => !SMALL_WORDS.test(word))

/** Cancels all that match. Nothing tells alarms from reminders, so "all alarms" may mean only some. */
function* cancelAll(words: string, kind: string, { present }: World): Steps {
  const query = wordsIn(words).join(' ') || null
  const all = query !== null || kind.toLowerCase() === 'reminder'
  return cancelled(yield* use('cancel_timer', { query, all }), query && words, ALL_OR_ONE, present)
}

/** Cancels the timer that matches. Without words, "the alarm" matches the title "alarm". */
export function* cancel(words: string, kind: string, { present }: World): Steps {
  const wanted = wordsIn(words)
  let outcome = yield* use('cancel_timer', { query: wanted.join(' ') || kind.toLowerCase(), all: false })
  if (outcome.reason === 'not_found' && wanted.length === 0)
    outcome = yield* use('cancel_timer', { query: null, all: false })
  if (outcome.reason === 'not_found' && kind === '')
    return `I found no reminder about “${words}”, and I can cancel nothing else.`
  return cancelled(outcome, wanted.length === 0 ? null : words, WHICH_ONE, present)
}

const ALL_OR_ONE =
  'Alarms, timers and reminders are one list. Say “cancel all reminders” to cancel these, or name one:'

/** `question` introduces the timers if several match. */
function cancelled(outcome: Outcome, words: string | null, question: string, present: Present): string {
  if (outcome.reason === 'not_found') return NO_SUCH(words ?? '')
  if (outcome.reason === 'ambiguous')
    return `${question}\n\n${bullets(outcome.timers.map((timer) => lineOf(timer, present)))}`
  if (!outcome.ok) return whyNot(outcome)
  return `Cancelled: ${outcome.timers.map(({ title = 'the timer' }) => `“${title}”`).join(', ')}.`
}

const SNOOZE_MINUTES = 10
/** What stands for the reminder that was due last, or joins its name and the time. */
const NAMELESS =
  /^(?:that|it|this|one|until|till|by|back|forward|up|later|earlier|sooner|reminders?|timers?|alarms?|countdowns?)$/
const EARLIER = /\b(?:forward|up|earlier|sooner)\b/i

const HALF_DAY_MS = 43_200_000

/** The words that tell which reminder is meant. */
const naming = (text: string) => wordsIn(text).filter((word) => !NAMELESS.test(word))

/** The reminders with these words that go off at the time in them, as in "my 6:30 alarm". */
function* thoseAt(words: string, { present }: World): StepsTo<readonly TimerResult[]> {
  const when = takeWhen(words, present, { early: false })
  if (when?.kind !== 'at' || !when.isClock) return []
  const { timers } = yield* use('list_timers', {})
  const clock = (ms: number) => ms % HALF_DAY_MS
  const wanted = clock(Date.parse(`${when.local}Z`))
  const wall = ({ dueAt = '' }: TimerResult) => wallMs({ ...present, now: new Date(dueAt) })
  const named = naming(when.rest)
  return timers.filter(
    (timer) =>
      clock(wall(timer)) === wanted && named.every((word) => timer.title?.toLowerCase().includes(word)),
  )
}

/** Which reminder to move, and when to: "to 4" is a time of day, and "an hour earlier" is no moment of the past. */
function readMove(text: string, world: World) {
  const end = text.toLowerCase().lastIndexOf(' to ')
  const [name, target] = [text.slice(0, Math.max(0, end)), text.slice(end + 1)]
  const early = /\balarm\b/i.test(name)
  const plain = target.replace(/^to (?=\d{1,2}$)/i, 'at ').replace(/ (?:earlier|later|sooner)$/i, '')
  return { name, target, when: takeWhen(plain, world.present, { early }) }
}

/** "In an hour" counts from now, "an hour later" from when it is due. */
function movedTo(when: Timing | null, text: string, present: Present): Call['args'] {
  if (when === null) return { by_minutes: SNOOZE_MINUTES }
  if (when.kind !== 'in') return timingOf(when)
  if (/\b(?:in|from now)\b/i.test(text))
    return { at: new Date(wallMs(present) + when.seconds * 1000).toISOString().slice(0, 19) }
  return { by_minutes: ((EARLIER.test(text) ? -1 : 1) * when.seconds) / 60 }
}

/** Changes when a reminder is due: the one with these words, or the one that was due last. */
function* move(text: string, world: World): Steps {
  const { name, target, when } = readMove(text, world)
  if (when?.kind === 'impossible') return when.why
  const timed = yield* thoseAt(name, world)
  if (timed.length > 1) return whichOf(timed, world.present)
  const query = timed[0]?.title ?? naming(`${name} ${when?.rest ?? target}`).join(' ')
  // A time of day alone keeps the day.
  const at = when?.kind === 'at' && when.isClock ? { at: when.local.slice(11) } : {}
  const time = movedTo(when, text, world.present)
  const outcome = yield* use('change_timer', { query: query || null, ...time, ...at })
  if (outcome.reason === 'not_found') return NO_SUCH(query)
  if (outcome.reason === 'past') return 'That time is already over.'
  if (outcome.reason === 'ambiguous') return whichOf(outcome.timers, world.present)
  if (!outcome.ok) return whyNot(outcome)
  const { title = 'the timer' } = outcome.timer ?? {}
  return `I’ll remind you of “${title}” ${formatDue(outcome.timer, world.present)}.`
}

/** Moves a reminder only if the text says when to. */
const whereMoved = (text: string, world: World) => (readMove(text, world).when ? move(text, world) : null)

const NO_SUCH = (query: string) => (query === '' ? NO_TIMERS : `I found no reminder about “${query}”.`)
const whichOf = (timers: readonly TimerResult[], present: Present) =>
  `Several match. Please say it again with all words of the one that you mean:\n\n${bullets(timers.map((timer) => lineOf(timer, present)))}`

const STOP = '(?:cancel|stop|delete|remove|clear|kill|end|dismiss|turn off|switch off|get rid of|drop)'
const SHOW =
  "(?:(?:show|list|display|give|tell|see|view|read|check)(?: me)?|what(?: are|'?re|'?s| is)?|which|do i have|have i got|are there|how many)"
const TIME_FIRST =
  '((?:in|at|on|every|each|tomorrow|tonight|today|next|this) .{1,120}?|tomorrow|tonight),?(?: please)?'
export const timerIntents: readonly Intent[] = [
  on(
    [
      `${SHOW}(?: all| any| of| my| the| active| current| upcoming| next| pending| some| more)* ${KIND}s?(?: (?:do i have|have i got|are (?:there|set|running|active)|i have|set|running|coming up|today|tomorrow|this week|left|on))*`,
      `(?:all )?(?:of )?(?:my )?${KIND}s`,
      `(?:how (?:long|much time)|when (?:does|is|will)) (?:.{0,40} )?${KIND}s?(?: .{0,40})?`,
      `what(?:'s| is| do i have)(?: coming up| planned| next| on my (?:schedule|agenda|calendar))(?: (?:for )?${SPAN})?`,
      `what(?:'s| is| do i have)(?: on(?: my list)?| due)?(?: for)? ${SPAN}`,
      `(?:do i have|have i got|is there) (?:anything|something)(?: on| due| planned| coming up)?(?: for)? ${SPAN}`,
    ],
    (groups, world) => list(world, firstOf(groups)),
  ),
  on(
    `${STOP} (?:all|every)(?: of)?(?: my| the)? (${KIND})s?(?: (?:for|about|to|that|of|at|called))?(?: (.{1,200}))?`,
    ([kind = '', words = ''], world) => cancelAll(tidy(words), kind, world),
  ),
  on(
    `${STOP} (?:the |my |that |this )?(?:(.{1,200}?) )??(${KIND})(?: (?:called|named|titled|for|about|to|that|of|at))?(?: (.{1,200}))?`,
    ([before = '', kind = '', after = ''], world) => cancel(tidy(`${before} ${after}`), kind, world),
  ),
  on('(?:snooze|postpone|delay)(?: (.{1,200}))?', ([words = ''], world) => move(words, world)),
  on(
    `(?:move|change|reschedule|shift|push(?: back)?|bring) ((?:(?:the |my |that |this )?(?:.{1,100}? )??${KIND}|that|it) .{1,100})`,
    ([words = ''], world) => whereMoved(words, world),
  ),
  on('(?:move|reschedule) (.{1,100} to .{1,60})', ([words = ''], world) => {
    const { when } = readMove(words, world)
    const isTime = when !== null && when.kind !== 'impossible' && naming(when.rest).length === 0
    return isTime ? move(words, world) : null
  }),
  on(
    `(?:set|start|create|make|add|schedule|put|give me|run|begin|i need|need)(?: me)?(?: up)?(?: an?| another| the| my)?(?: new)?(?: ([^:]{1,300}))? (${KIND})(?: (.*))?`,
    ([before = '', kind = '', after = ''], world) =>
      setTimer(`${before === '' ? '' : `${before} ${kind} `}${after}`, kind, world),
  ),
  on('(remind|wake) me(?: up| again| later)*[:,]?(?: (.*))?', ([verb = '', words = ''], world) =>
    setTimer(words, verb, world),
  ),
  on(`(${KIND})[:,]? (.+)`, ([kind = '', words = ''], world) => whereTimed(words, kind, world)),
  on(`(.{1,60})[ -](${KIND})`, ([words = '', kind = ''], world) =>
    whereTimed(`${words} ${kind}`, kind, world),
  ),
  on('(?:ping|nudge|alert|notify|tell|text|call|message) me (.+)', ([words = ''], world) =>
    whereTimed(words, 'reminder', world),
  ),
  on(
    "(?:remember|(?:don't|do not) (?:let me )?forget|make sure (?:that )?i(?: remember)?) (to .+)",
    ([words = ''], world) => setTimer(words, 'reminder', world),
  ),
  on('cancel (?:the |my |that |this )?(.{1,200})', ([words = ''], world) => cancel(tidy(words), '', world)),
  // "In ten minutes, remind me to …", "every morning at 8 wake me".
  on(
    `${TIME_FIRST} (wake|remind|ping|alert|tell|notify) me(?: up)?(?: (.*))?`,
    ([time = '', verb = '', words = ''], world) => whereTimed(`${time} ${words}`.trim(), verb, world),
  ),
]
