import {
  firstOf,
  type Intent,
  on,
  type Present,
  type Reply,
  report,
  type Steps,
  use,
  type World,
} from '../intent.ts'
import { DAY_MS, tellDay, tellMoment, today } from '../local-time.ts'
import { type TimerResult, whyNot } from '../results.ts'
import { bullets, capitalise, tidy, toYou } from '../text.ts'
import { takeWhen, type When } from '../when.ts'
import { WHICH_ONE } from '../wording.ts'

const KIND = '(?:timer|alarm|reminder|countdown)'
const MAX_TITLE_CHARS = 200

/** Titles of timers that the owner did not name. */
const UNTITLED = {
  reminder: 'Reminder',
  timer: 'Timer',
  alarm: 'Alarm',
  countdown: 'Countdown',
  wake: 'Wake up',
}
/** What a timer is for, which decides how replies speak of it. */
type Purpose = keyof typeof UNTITLED
const isPurpose = (word: string): word is Purpose => word in UNTITLED

type Timing = Exclude<When, { kind: 'impossible' }>

export const ASK_WHEN = 'When?'
export const ASK_WHAT = 'What should I remind you of, and when?'

/** "An alarm for 7". */
const FOR_CLOCK =
  /\bfor (?=\d{1,2}(?:[:.]\d{2})?(?: ?[ap]m)?(?:$|,| (?!s\b|secs?|seconds?|m\b|mins?|minutes?|h\b|hrs?|hours?|days?|weeks?|months?|people|\d)))/i

function setTimer(words: string, purpose: Purpose, world: World): Reply {
  const early = purpose === 'wake' || purpose === 'alarm'
  const text = words.replace(/\s+/g, ' ')
  const when = takeWhen(early ? text.replace(FOR_CLOCK, 'at ') : text, world.present, { early })
  if (when?.kind === 'impossible') return when.why
  if (when) return set(when, { title: titleOf(when.rest), purpose, link: linkIn(when.rest) }, world)
  if (titleOf(text) === '' && purpose === 'reminder') return ASK_WHAT
  const isRepeated = world.conversation.past[0]?.reply.startsWith(ASK_WHEN)
  return isRepeated ? `${ASK_WHEN} For example “tomorrow at 9” or “in 20 minutes”.` : ASK_WHEN
}

type Named = { readonly title: string; readonly purpose: Purpose; readonly link: string }

/** The word between "remind me" and what to remind of. */
const linkIn = (rest: string) => /^(?:me )?(to|about|of|that) /i.exec(tidy(rest))?.[1]?.toLowerCase() ?? ''

function* set(when: Timing, named: Named, { present }: World): Steps {
  const title = capitalise(named.title || UNTITLED[named.purpose]).slice(0, MAX_TITLE_CHARS)
  const outcome = yield* use('set_timer', { title: title.toWellFormed(), ...timingOf(when, present) })
  if (!outcome.ok) return outcome.reason === 'past' ? 'That time is already over.' : whyNot(outcome)
  const due = new Date(outcome.timer?.dueAt ?? Number.NaN)
  const isKnown = !Number.isNaN(due.getTime())
  if (when.kind === 'every')
    return `${announce(named)} ${when.words}${isKnown ? `, first ${tellDay(due, present)}` : ''}.`
  return `${announce(named)} ${isKnown ? tellMoment(due, present).replace(/^today /, '') : 'then'}.`
}

function announce({ title, purpose, link }: Named): string {
  const name = toYou(title)
  const named = name.toLowerCase().endsWith(purpose) ? name : `${name} ${purpose}`.trim()
  if (purpose === 'wake') return 'I’ll wake you'
  if (purpose !== 'reminder') return `Your ${named} goes off`
  if (name === '') return 'I’ll remind you'
  return link === '' ? `I’ll remind you of “${name}”` : `I’ll remind you ${link} ${name}`
}

function timingOf(when: Timing, { now }: Present): Record<string, string | number> {
  if (when.kind === 'at') return { at: when.local }
  if (when.kind === 'every') return { recurrence: when.cron }
  if (when.seconds % 60 === 0) return { in_minutes: when.seconds / 60 }
  return { at: new Date(now.getTime() + when.seconds * 1000).toISOString() }
}

/** Small words at the start of a title. */
const JOINTS = [
  /^(?:called|named|titled|labell?ed|with (?:the )?(?:title|label|name)) /i,
  /^me\b ?/i,
  /^(?:to|that|about|of|for|and|on|at|in)(?: |$)/i,
  /^(?:timer|alarm|reminder|countdown)s?(?: |$)/i,
  /^(?:i|we) (?:have|need|must|should)(?: to)? /i,
]

/** What is left once the time is out, without the small words that joined them; "" for nothing. */
function titleOf(rest: string): string {
  let title = tidy(rest)
  for (let round = 0; round < 3; round += 1) for (const joint of JOINTS) title = title.replace(joint, '')
  return tidy(title.replace(/ (?:to|for|at|on|in|about|and|that|by|from now)$/i, ''))
}

/** Sets one only where a time is named. */
const whereTimed =
  (purpose: Purpose) =>
  (groups: readonly string[], world: World): Reply | null => {
    const words = groups.join(' ').trim()
    return takeWhen(words, world.present, { early: false }) ? setTimer(words, purpose, world) : null
  }

const purposeOf = (kind: string): Purpose => {
  const plain = kind.toLowerCase()
  return isPurpose(plain) ? plain : 'reminder'
}

/** A line of a list of timers. */
export function lineOf({ title = 'Timer', dueAt, recurrence }: TimerResult, present: Present): string {
  const due = new Date(dueAt ?? Number.NaN)
  const moment = Number.isNaN(due.getTime()) ? '' : `: ${tellMoment(due, present)}`
  return `${title}${moment}${recurrence ? ', repeating' : ''}`
}

const list = ({ present }: World) =>
  report('list_timers', {}, ({ timers }) =>
    timers.length === 0 ? NO_TIMERS : bullets(timers.map((timer) => lineOf(timer, present))),
  )

const NO_TIMERS = 'You have no reminders or timers.'

/** Cancels timers by their ids. */
export function* cancelTimers(ids: readonly string[]): Steps {
  const outcomes = yield ids.map((query) => ({ name: 'cancel_timer', args: { query } }))
  const failed = outcomes.find(({ ok }) => !ok)
  const titles = outcomes.map((outcome) => `“${outcome.timer?.title ?? 'the timer'}”`)
  return failed ? whyNot(failed) : `Cancelled: ${titles.join(', ')}.`
}

const SMALL_WORDS = /^(?:the|my|to|at|for|a|an|about|of|)$/

/** Cancels the one that has the words, or every one. Without words, "the alarm" is one that is called an alarm. */
function* cancel(words: string, kind: string, { present }: World): Steps {
  const listed = yield* use('list_timers', {})
  if (!listed.ok) return whyNot(listed)
  const { timers } = listed
  const have = (wanted: readonly string[]) =>
    timers.filter(({ title = '' }) => wanted.every((word) => title.toLowerCase().includes(word)))
  const wanted = words
    .toLowerCase()
    .split(' ')
    .filter((word) => !SMALL_WORDS.test(word))
  const named = have(wanted.length === 0 && kind !== 'all' ? [kind.toLowerCase()] : wanted)
  const matching = named.length === 0 && wanted.length === 0 ? timers : named
  if (matching.length === 0)
    return words === '' || timers.length === 0 ? NO_TIMERS : `I find no reminder about “${words}”.`
  if (matching.length > 1 && kind !== 'all')
    return `${WHICH_ONE}\n\n${bullets(matching.map((timer) => lineOf(timer, present)))}`
  return yield* cancelTimers(matching.map(({ id = words }) => id))
}

/** "No, at 10", "make it 10": the timer that was just set, at another time. Null where none was. */
export function changeTime(words: string, world: World): Reply | null {
  const [last] = world.conversation.past
  const timer = last?.done.findLast(({ name, outcome }) => name === 'set_timer' && outcome.ok)
  const title = timer?.args.title
  const id = timer?.outcome.timer?.id
  if (typeof title !== 'string' || id === undefined) return null
  const purpose = purposeOf(title === UNTITLED.wake ? 'wake' : title)
  const early = purpose === 'wake'
  const clock = /^\d{1,2}(?:[:.]\d{2})?(?: ?[ap]m)?$/i.test(words) ? `at ${words}` : words
  const when = takeWhen(clock, world.present, { early })
  if (when === null || when.kind === 'impossible' || titleOf(when.rest) !== '') return null
  // A bare time of day is on the day that was set, or on each day of a recurrence.
  const { at, recurrence } = timer?.args ?? {}
  const tomorrow = new Date(today(world.present) + DAY_MS).toISOString()
  const day = typeof at === 'string' ? at : typeof recurrence === 'string' ? tomorrow : ''
  const isBare = when.kind === 'at' && !when.hasDay
  const onDay = isBare ? takeWhen(`${day.slice(0, 10)} ${clock}`.trim(), world.present, { early }) : null
  const moved = onDay?.kind === 'at' ? (onEachDay(recurrence, onDay.local) ?? onDay) : when
  const link = /^I’ll remind you (to|about|of|that) (?!“)/.exec(last?.reply ?? '')?.[1] ?? ''
  const named = {
    title: title === UNTITLED[purpose] ? '' : title.slice(0, 1).toLowerCase() + title.slice(1),
    purpose,
    link,
  }
  return replace(id, moved, named, world)
}

/** A recurrence at another time of day; null where there is none. */
function onEachDay(cron: unknown, local: string): Timing | null {
  if (typeof cron !== 'string') return null
  const [hour, minute] = [Number(local.slice(11, 13)), Number(local.slice(14))]
  const fields = [minute, hour, ...cron.split(' ').slice(2)].join(' ')
  return { kind: 'every', cron: fields, words: `at ${local.slice(11)}`, rest: '' }
}

function* replace(id: string, when: Timing, named: Named, world: World): Steps {
  const outcome = yield* use('cancel_timer', { query: id })
  return outcome.ok ? yield* set(when, named, world) : whyNot(outcome)
}

const STOP = '(?:cancel|stop|delete|remove|clear|kill|end|dismiss|turn off|switch off|get rid of|drop)'
const SHOW =
  "(?:(?:show|list|display|give|tell|see|view|read|check)(?: me)?|what(?: are|'?re|'?s| is)?|which|do i have|have i got|are there|how many)"
const TIME_FIRST =
  '((?:in|at|on|every|each|tomorrow|tonight|today|next|this) .{1,120}?|tomorrow|tonight),?(?: please)?'
const FIX =
  '(?:make (?:it|that)|(?:change|move) (?:it|that)(?: to)?|i meant?|rather|better|set it (?:to|for))'

export const timerIntents: readonly Intent[] = [
  on(
    [
      `${SHOW}(?: all| any| of| my| the| active| current| upcoming| next| pending| some| more)* ${KIND}s?(?: (?:do i have|have i got|are (?:there|set|running|active)|i have|set|running|coming up|today|tomorrow|this week|left|on))*`,
      `(?:all )?(?:of )?(?:my )?${KIND}s`,
      `(?:how (?:long|much time)|when (?:does|is|will)) (?:.{0,40} )?${KIND}s?(?: .{0,40})?`,
      "what(?:'s| is| do i have)(?: coming up| planned| on my (?:schedule|agenda|calendar))(?: today| tomorrow| this week)?",
    ],
    (_groups, world) => list(world),
  ),
  on(
    `${STOP} (?:all|every)(?: of)?(?: my| the)? ${KIND}s?(?: (?:for|about|to|that|of|at|called))?(?: (.{1,200}))?`,
    ([words = ''], world) => cancel(tidy(words), 'all', world),
  ),
  on(
    `${STOP} (?:the |my |that |this )?(?:(.{1,200}) )?(${KIND})(?: (?:called|named|titled|for|about|to|that|of|at))?(?: (.{1,200}))?`,
    ([before = '', kind = '', after = ''], world) => cancel(tidy(`${before} ${after}`), kind, world),
  ),
  on(`(?:no,? |sorry,? )?${FIX} (.{1,60})|no,? (.{1,60})`, (groups, world) =>
    changeTime(firstOf(groups), world),
  ),
  on(
    `(?:set|start|create|make|add|schedule|put|give me|run|begin|i need|need)(?: me)?(?: up)?(?: an?| another| the| my)?(?: new)?(?: (.{1,300}))? (${KIND})(?: (.*))?`,
    ([before = '', kind = '', after = ''], world) =>
      setTimer(`${before === '' ? '' : `${before} ${kind} `}${after}`, purposeOf(kind), world),
  ),
  on('remind me(?: again)?(?: later)?[:,]?(?: (.*))?', ([words = ''], world) =>
    setTimer(words, 'reminder', world),
  ),
  on('wake me(?: up)?(?: (.*))?', ([words = ''], world) => setTimer(words, 'wake', world)),
  on(`(${KIND})[:,]? (.+)`, ([kind = '', words = ''], world) => whereTimed(purposeOf(kind))([words], world)),
  on(`(.{1,60})[ -](${KIND})`, ([words = '', kind = ''], world) =>
    whereTimed(purposeOf(kind))([words, kind], world),
  ),
  on('(?:ping|nudge|alert|notify|tell|text|call|message) me (.+)', whereTimed('reminder')),
  on(
    "(?:remember|(?:don't|do not) (?:let me )?forget|make sure (?:that )?i(?: remember)?) (to .+)",
    ([words = ''], world) => setTimer(words, 'reminder', world),
  ),
  // "In ten minutes, remind me to …", "every morning at 8 wake me".
  on(`${TIME_FIRST} wake me(?: up)?(?: (.*))?`, whereTimed('wake')),
  on(`${TIME_FIRST} (?:remind|ping|alert|tell|notify) me(?: (.*))?`, whereTimed('reminder')),
]
