import {
  type Call,
  type Intent,
  on,
  type Present,
  type Steps,
  type StepsTo,
  use,
  type World,
} from '../intent.ts'
import { wallMs } from '../local-time.ts'
import { PARTS_OF_DAY } from '../recurrence.ts'
import { type TimerResult, whyNot } from '../results.ts'
import { tidy } from '../text.ts'
import { hourOf } from '../time-phrases.ts'
import { takeWhen, type When } from '../when.ts'
import { ALL_RIGHT, FIRST_DUE, WILL_REMIND } from '../wording.ts'
import { formatDue, NO_SUCH } from './agenda.ts'
import { choiceOf, findNamed, HALF_DAY_MS, KIND, naming, thoseAt } from './which-timer.ts'

export type Timing = Exclude<When, { kind: 'impossible' }>

export function timingOf(when: Timing): Call['args'] {
  if (when.kind === 'at') return { at: when.local }
  return when.kind === 'every' ? { recurrence: when.cron } : { in_minutes: when.seconds / 60 }
}

const SAY_AGAIN = 'Several match. Please say it again with all words of the one that you mean:'
const isPartOfDay = (text: string) => PARTS_OF_DAY.some(([words]) => words.test(text))

const SNOOZE_MINUTES = 10
/** Ends the reply about a repeating reminder that was moved as a whole. */
const EACH_TIME = ', repeating.'
const EARLIER = /\b(?:forward|up|earlier|sooner)\b/i

export const SAME_TIME = /,? ?\b(?:at )?(?:the )?same time\b/i

/** Which reminder to move, and when to: "to 4" is a time of day, and "an hour earlier" is no moment of the past. */
function readMove(said: string, world: World) {
  const text = said.replace(SAME_TIME, '')
  const end = text.toLowerCase().lastIndexOf(' to ')
  const [name, target] = [text.slice(0, Math.max(0, end)), text.slice(end + 1)]
  const early = /\balarm\b/i.test(name)
  const plain = target.replace(/^to (?=\d{1,2}$)/i, 'at ').replace(/ (?:earlier|later|sooner)$/i, '')
  return { name, target, when: takeWhen(plain, world.present, { early }) }
}

/** "A day later", but not "in a day" or "a day from now". */
const DAYS_ON = /(?<!\bin )\b(an?|one|two|three|\d{1,2}) (day|week)s?\b(?! from now)/i

/** "In an hour" counts from now, "an hour later" from when it is due. */
function movedTo(when: Timing | null, text: string, present: Present): Call['args'] {
  const sign = EARLIER.test(text) ? -1 : 1
  const days = when === null || (when.kind === 'at' && when.isDay) ? DAYS_ON.exec(text) : null
  if (days) {
    const count = hourOf(days[1] ?? '') || 1
    return { by_minutes: sign * count * (/^w/i.test(days[2] ?? '') ? 7 : 1) * 24 * 60 }
  }
  if (when === null) return { by_minutes: SNOOZE_MINUTES }
  if (when.kind !== 'in') return timingOf(when)
  if (/\b(?:in|from now)\b/i.test(text))
    return { at: new Date(wallMs(present) + when.seconds * 1000).toISOString().slice(0, 19) }
  return { by_minutes: (sign * when.seconds) / 60 }
}

/** A time of day alone keeps the day of the reminder. "To 10" means the ten o'clock that is nearest to its time. */
function clockIn(text: string, timer: TimerResult | undefined, world: World): Call['args'] {
  const before =
    timer?.dueAt === undefined ? world.present.now : new Date(Date.parse(timer.dueAt) - HALF_DAY_MS / 2)
  const { when } = readMove(text, { ...world, present: { ...world.present, now: before } })
  return when?.kind === 'at' ? { at: when.local.slice(11) } : {}
}

/** "Make that 8" right after a repeating reminder was set means all of them. Null otherwise: the later ones stay. */
function everyTime(
  { at }: Call['args'],
  timer: TimerResult | undefined,
  { conversation: { past } }: World,
): Call['args'] | null {
  const [hours, minutes] = String(at).split(':').map(Number)
  const recurrence = timer?.recurrence?.replace(/^\d+ \d+ /, `${minutes} ${hours} `)
  const reply = past[0]?.reply ?? ''
  const isJustSet = reply.includes(FIRST_DUE) || reply.endsWith(EACH_TIME)
  return isJustSet && at !== undefined && recurrence !== undefined && recurrence !== timer?.recurrence
    ? { recurrence }
    : null
}

/** A day alone keeps the time of day of the reminder. */
function onDay(local: string, timer: TimerResult | undefined, { present }: World): Call['args'] {
  if (timer?.dueAt === undefined) return {}
  const due = new Date(wallMs({ ...present, now: new Date(timer.dueAt) })).toISOString()
  return { at: `${local.slice(0, 10)}${due.slice(10, 16)}` }
}

/** Changes when a reminder is due: the one with these words, the one just named, or the one that was due last. */
export function* move(text: string, world: World): Steps {
  const { name, target, when } = readMove(text, world)
  if (when?.kind === 'impossible') return when.why
  const timed = yield* thoseAt(name, world)
  if (timed.length > 1) return choiceOf(SAY_AGAIN, timed, world.present)
  const words = naming(`${name} ${when?.rest ?? target}`)
  const isClock = when?.kind === 'at' && when.isClock
  const time = movedTo(when, target, world.present)
  const isDay = 'at' in time && when?.kind === 'at' && when.isDay && !isClock && !isPartOfDay(target)
  const needsTimer = isClock || isDay || words.length === 0
  const timer = timed[0] ?? (needsTimer ? yield* findNamed(words, world) : undefined)
  const at = isClock ? clockIn(text, timer, world) : isDay ? onDay(when.local, timer, world) : {}
  const every = isClock && words.length === 0 ? everyTime(at, timer, world) : null
  const query = timer?.id ?? words.join(' ')
  let outcome = yield* use('change_timer', { query: query || null, ...(every ?? { ...time, ...at }) })
  // That time is over on the day named, or on that of the reminder.
  if (outcome.reason === 'past' && 'at' in at && when?.kind === 'at')
    outcome = yield* use('change_timer', { query: query || null, ...timingOf(when) })
  if (outcome.reason === 'not_found') return NO_SUCH(words.join(' '))
  if (outcome.reason === 'past') return 'That time is already over.'
  if (outcome.reason === 'ambiguous') return choiceOf(SAY_AGAIN, outcome.timers, world.present)
  if (!outcome.ok) return whyNot(outcome)
  const { title = 'the timer', recurrence } = outcome.timer ?? {}
  const isOnce = when?.kind !== 'every' && every === null
  const which = recurrence ? (isOnce ? ', just this once.' : EACH_TIME) : '.'
  return `${WILL_REMIND} of “${title}” ${formatDue(outcome.timer, world.present)}${which}`
}

/** Ticks off the reminder that is due and has these words, or without words the last one; null if there is none. */
export function* tickOff(words: readonly string[]): StepsTo<string | null> {
  const outcome = yield* use('change_timer', { query: words.join(' ') || null, done: true })
  if (outcome.ok) return `Ticked off: “${outcome.timer?.title}”.`
  if (outcome.reason === 'not_due' && words.length > 0) return 'That reminder is not due yet.'
  return /^(?:not_found|not_due|ambiguous)$/.test(outcome.reason ?? '') ? null : whyNot(outcome)
}

function* tickOffLast(): Steps {
  return (yield* tickOff([])) ?? ALL_RIGHT
}

/** Moves a reminder only if the text says when to. */
const whereMoved = (text: string, world: World) => (readMove(text, world).when ? move(text, world) : null)

export const moveIntents: readonly Intent[] = [
  on(
    "(?:ok,? |okay,? |all )?done(?: (?:it|that|this|now))?(?:[ ,]+(?:good|great|nice|then|ok|cool|thanks))*|(?:i(?:'ve| have)?(?: just| already)? (?:done|did)|that(?:'s| is)(?: all)? done|it(?:'s| is) done)(?: (?:it|that|this|now))?",
    () => tickOffLast(),
  ),
  on('(?:snooze|postpone|delay)(?: (.{1,200}))?', ([words = ''], world) => move(words, world)),
  on(
    `(?:move|change|reschedule|shift|push(?: back)?|bring) ((?:(?:the |my |that |this )?(?:.{1,100}? )??(?:${KIND}|one)|that|it) .{1,100})`,
    ([words = ''], world) => whereMoved(words, world),
  ),
  on(
    `((?:.{1,60} )?${KIND}) (?:should|must|needs to|has to) be (?:at )?(\\d.{0,30}?)(?:,? (?:and )?not .{1,20})?`,
    ([name = '', time = ''], world) => {
      const text = `${name} to ${time}`
      return readMove(text, world).when?.kind === 'at' ? move(text, world) : null
    },
  ),
  on('(?:no,? )?make (?:that|it) (.{1,60})', ([words = ''], world) => {
    const isDelay = takeWhen(words, world.present, { early: false })?.kind === 'in'
    return whereMoved(`it to ${isDelay ? 'in ' : ''}${words}`, world)
  }),
  on('add (?:another )?(\\d{1,3} (?:more )?(?:min(?:ute)?|hour)s?)', ([delay = ''], world) =>
    whereMoved(`it by ${delay.replace('more ', '')}`, world),
  ),
  on(`add (\\d.{0,30}) to ((?:.{1,60} )??${KIND}|it|that)`, ([delay = '', name = ''], world) =>
    whereMoved(`${name} by ${delay}`, world),
  ),
  on(`put ((?:.{1,100} )??${KIND} .{0,60}(?:earlier|later|back|forward))`, ([words = ''], world) =>
    whereMoved(words, world),
  ),
  // "3 pm" and "no, on Friday", after a reminder was set.
  on('(?:(?:no|sorry|wait|actually|rather|i mean|i meant),? ){0,3}(.{1,40})', ([words = ''], world) => {
    if (!world.conversation.past[0]?.reply.startsWith(WILL_REMIND)) return null
    const when = takeWhen(words, world.present, { early: false })
    const isTime = when !== null && when.kind !== 'impossible' && tidy(when.rest) === ''
    return isTime ? move(`it to ${words}`, world) : null
  }),
  on('(?:move|reschedule) (.{1,100} to .{1,60})', ([words = ''], world) => {
    const { when } = readMove(words, world)
    const isTime = when !== null && when.kind !== 'impossible' && naming(when.rest).length === 0
    return isTime ? move(words, world) : null
  }),
]
