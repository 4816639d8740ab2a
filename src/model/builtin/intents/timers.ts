import { wholeCharacters } from '../../../../projections/whole-characters.ts'
import type { Exchange } from '../conversation.ts'
import { type Intent, on, type Present, type Reply, type Steps, use, type World } from '../intent.ts'
import { formatDay, formatMoment } from '../local-time.ts'
import { NO_OUTCOME, type Outcome, whyNot } from '../results.ts'
import { bullets, capitalise, isQuestion, isStatement, tidy, toYou } from '../text.ts'
import { datesIn, type Lead, leadIn, takeWhen } from '../when.ts'
import { ASK_WHEN, FIRST_DUE, SURE, WHICH_ONE, WILL_REMIND } from '../wording.ts'
import { agenda, agendaAsked, formatDue, lineOf, NO_SUCH, SPAN, titledWith, wordsIn } from './agenda.ts'
import { countOf } from './dates.ts'
import { toldDate } from './look-up.ts'
import { move, moveIntents, SAME_TIME, type Timing, timingOf } from './move-timer.ts'
import { YES } from './talk.ts'
import { choiceOf, findNamed, KIND, naming, thoseAt } from './which-timer.ts'

const MAX_TITLE_CHARS = 200

export const ASK_WHAT = 'What should I remind you of, and when?'
export const ASK_WHAT_THEN = 'What should I remind you of?'

const FOR_CLOCK =
  /\bfor (?=\d{1,2}(?:[:.]\d{2})?(?: ?[ap]m)?(?:$|,| (?!s\b|secs?|seconds?|m\b|mins?|minutes?|h\b|hrs?|hours?|days?|weeks?|months?|people|\d)))/i

/** "Remind me of that at 5" and "remind me the day before" speak of what was said before, or of what answered it. */
function ofSaid(words: string, { conversation: { past }, present }: World): string {
  const rest = words.replace(/^(?:of|about) (?:it|that|this)\b/i, '')
  const isBefore = leadIn(words, present)?.event === ''
  if (rest === words && !isBefore) return words
  const statements = past.map(statementIn)
  const dated = isBefore ? statements.find((said) => datesIn(said, present).length > 0) : undefined
  const said = dated ?? statements[0] ?? ''
  return said === '' ? words : `${tidy(said)} ${rest}`
}

/** "The same time" is that of the reminder just set, unless the words name a time themselves. */
function atSameTime(words: string, { conversation: { past }, present }: World): string {
  if (!SAME_TIME.test(words)) return words
  const when = takeWhen(words.replace(SAME_TIME, ''), present, { early: false })
  const isTimed = when?.kind === 'in' || (when?.kind === 'at' && !when.isDay)
  const set = past.find(({ reply }) => reply.startsWith(WILL_REMIND) || / goes off /.test(reply))
  const clock = /\b\d\d:\d\d\b/.exec(set?.reply ?? '')?.[0]
  return clock === undefined || isTimed ? words : words.replace(SAME_TIME, ` at ${clock}`)
}

/** What the owner stated, or what answered their question; "" if it was neither. */
function statementIn({ said, reply }: Exchange): string {
  if (isQuestion(said)) return /^You told me(?: [^:]+)?: (.+)$/.exec(reply)?.[1] ?? ''
  return isStatement(said) ? said : ''
}

/** `called` is the word that the owner used: "reminder", "timer", "alarm", "countdown", "wake", "tell", … */
function setTimer(words: string, called: string, world: World): Reply {
  const kind = /^(?:timer|alarm|countdown|wake)$/i.test(called) ? called.toLowerCase() : 'reminder'
  const early = kind === 'wake' || kind === 'alarm'
  const text = atSameTime(words.replace(/\s+/g, ' '), world)
  const lead = leadIn(text, world.present, early)
  if (lead) return setBefore(lead, kind, world)
  const when = takeWhen(early ? text.replace(FOR_CLOCK, 'at ') : text, world.present, { early })
  if (when?.kind === 'impossible') return when.why
  const isDay = (when?.kind === 'at' && when.isDay) || when?.kind === 'every'
  if (isDay && titleOf(when.rest) === '' && kind === 'reminder') return ASK_WHAT_THEN
  if (when) return set(when, kind, world)
  if (titleOf(text) === '' && kind === 'reminder') return ASK_WHAT
  return setOnTold(text, kind, world)
}

/** "On mum's birthday to send flowers", "to send flowers on mum's birthday". */
const ON_EVENT = /\bon (\p{L}.{2,60}?(?= to )|(?:.{1,60} )?\p{L}*(?:day|anniversary)$)/iu

/** The owner told the date of the event earlier. */
function* setOnTold(text: string, kind: string, world: World): Steps {
  const event = ON_EVENT.exec(text)?.[1]
  const date = event === undefined ? '' : yield* toldDate(event, world)
  const when = date === '' ? null : takeWhen(text.replace(event ?? '', date), world.present, { early: false })
  if (when !== null && when.kind !== 'impossible') return yield* set(when, kind, world)
  return `${ASK_WHEN} For example “tomorrow at 9” or “in 20 minutes”.`
}

/** The text says when the event is, or the owner told it earlier. */
function* setBefore({ event, dueBefore }: Lead, kind: string, world: World): Steps {
  const when = dueBefore(event) ?? dueBefore(`${event} ${yield* toldDate(event, world)}`)
  if (when?.kind === 'impossible') return when.why
  if (when !== null) return yield* set(when, kind, world)
  return `${ASK_WHEN} Please say when the event itself is, such as “Friday at 6”.`
}

function* set(when: Timing, kind: string, { present }: World): Steps {
  const title = titleOf(when.rest)
  // "Your pasta timer", but "I'll remind you of the pasta".
  const name = kind === 'reminder' ? title : title.replace(/^(?:the|my|our|an?) /i, '')
  const shown = wholeCharacters(
    capitalise(name || (kind === 'wake' ? 'Wake up' : kind)).slice(0, MAX_TITLE_CHARS),
  )
  const outcome = yield* use('set_timer', { title: shown, ...timingOf(when) })
  if (outcome.reason === 'past') return 'That time is already over.'
  if (!outcome.ok) return whyNot(outcome)
  const told =
    when.kind === 'every'
      ? `${when.words}${FIRST_DUE} ${formatDue(outcome.timer, present, / at /.test(when.words) ? formatDay : formatMoment)}`
      : formatDue(outcome.timer, present).replace(/^today /, '')
  return `${announce(toYou(name), kind, when.rest)} ${told}.`
}

function announce(name: string, kind: string, rest: string): string {
  if (kind === 'wake') return 'I’ll wake you'
  if (kind !== 'reminder')
    return `Your ${name.toLowerCase().endsWith(kind) ? name : `${name} ${kind}`.trim()} goes off`
  if (name === '') return WILL_REMIND
  const link = /^(?:me )?(to|about|of|that) /i.exec(tidy(rest))?.[1]?.toLowerCase()
  return link === undefined ? `${WILL_REMIND} of “${name}”` : `${WILL_REMIND} ${link} ${name}`
}

/** Words to drop at the start of a title. */
const JOINTS = [
  /^(?:(?:ok|okay|so|well|and|also),? )+/i,
  /^(?:called|named|titled|labell?ed|with (?:the )?(?:title|label|name)) /i,
  /^me\b ?/i,
  /^(?:to|that|about|of|for|and|on|at|in)(?: |$)/i,
  /^(?:timer|alarm|reminder|countdown)s?(?: |$)/i,
  /^(?:i|we|you)(?:['’]ve got| have| need| must| should| got| gotta)(?: to)? /i,
]

/** The title: the rest of the text without joining words; "" if nothing remains. */
function titleOf(rest: string): string {
  let title = tidy(rest)
  for (let round = 0; round < 3; round += 1) for (const joint of JOINTS) title = title.replace(joint, '')
  return tidy(title.replace(/ (?:to|for|at|on|about|and|that|by|is|are|from now)$/i, ''))
}

/** "The bins at 10 instead" moves the reminder about the bins, if there is one. */
function* moveOrSet(words: string, world: World): Steps {
  const when = takeWhen(words, world.present, { early: false })
  if (when !== null && when.kind !== 'impossible' && words.includes(when.rest)) {
    const timer = yield* findNamed(naming(when.rest), world)
    if (timer) return yield* move(`${when.rest} to ${words.replace(when.rest, '')}`, world)
  }
  const set = setTimer(`${words} instead`, 'reminder', world)
  return typeof set === 'string' ? set : yield* set
}

/** Sets a timer only if the text contains a time. */
function whereTimed(words: string, called: string, world: World): Reply | null {
  return takeWhen(words, world.present, { early: false }) ? setTimer(words, called, world) : null
}

/** How long until each reminder with these words is due; without words, the soonest. */
function* timeLeft(said: string, { present }: World): Steps {
  const words = naming(said)
  const { timers } = yield* use('list_timers', {})
  const lines = timers.filter(titledWith(words)).map((timer) => {
    const seconds = Math.round((Date.parse(timer.dueAt ?? '') - present.now.getTime()) / 1000)
    const minutes = Math.ceil(seconds / 60)
    if (!(seconds >= 0 && minutes < 24 * 60)) return lineOf(timer, present)
    const left =
      minutes < 2
        ? countOf([seconds, 'second'])
        : countOf([Math.floor(minutes / 60), 'hour'], [minutes % 60, 'minute'])
    return `${timer.title ?? 'Timer'}: ${left}, ${formatDue(timer, present)}`
  })
  if (lines.length === 0) return NO_SUCH(words.join(' '))
  return bullets(words.length === 0 ? lines.slice(0, 1) : lines)
}

/** Cancels all that match. Nothing tells alarms from reminders, so "all alarms" may mean only some. */
function* cancelAll(words: string, kind: string, world: World): Steps {
  const { present } = world
  const timed = yield* thoseAt(words, world)
  if (timed.length > 0 && !/^reminder$/i.test(kind)) return choiceOf(WHICH_ONE, timed, present)
  if (timed.length > 0) {
    const outcomes = yield timed.map(({ id }) => ({ name: 'cancel_timer', args: { query: id, all: false } }))
    const done = { ...NO_OUTCOME, ok: true, timers: outcomes.flatMap(({ timers }) => timers) }
    return cancelled(outcomes.find(({ ok }) => !ok) ?? done, words, WHICH_ONE, present)
  }
  const query = wordsIn(words).join(' ') || null
  if (query === null && /^reminder$/i.test(kind)) return yield* askToCancelAll(present)
  const cancelling = yield* use('cancel_timer', { query, all: query !== null })
  return cancelled(cancelling, query && words, ALL_OR_ONE, present)
}

/** A cancelled reminder does not come back, so more than one needs a “yes”. */
function* askToCancelAll(present: Present): Steps {
  const { timers } = yield* use('list_timers', {})
  if (timers.length < 2) return cancelled(yield* use('cancel_timer', ALL), null, ALL_OR_ONE, present)
  const lines = timers.map((timer) => lineOf(timer, present))
  return `${timers.length} reminders ${SURE}\n\n${bullets(lines)}`
}

const ALL = { query: null, all: true }

/** A “yes” to that. */
export const cancelAllIntent: Intent = on(YES, (_groups, { conversation: { past }, present }) =>
  past[0]?.reply.includes(SURE) ? reallyAll(present) : null,
)

function* reallyAll(present: Present): Steps {
  return cancelled(yield* use('cancel_timer', ALL), null, ALL_OR_ONE, present)
}

/** Cancels the timer that matches. Without words, "the alarm" matches the title "alarm". */
export function* cancel(words: string, kind: string, world: World): Steps {
  const { present } = world
  const wanted = wordsIn(words)
  const timed = yield* thoseAt(words, world)
  if (timed.length > 1) return choiceOf(WHICH_ONE, timed, present)
  const isNamed = world.conversation.past[0]?.reply.toLowerCase().includes(kind.toLowerCase())
  const said = wanted.length === 0 && isNamed ? yield* findNamed([], world) : undefined
  const query = timed[0]?.id ?? said?.id ?? (wanted.join(' ') || kind.toLowerCase())
  let outcome = yield* use('cancel_timer', { query, all: false })
  // An alarm without words is called "Wake up".
  for (const each of /^alarm$/i.test(kind) ? ['wake up', null] : [null])
    if (outcome.reason === 'not_found' && wanted.length === 0)
      outcome = yield* use('cancel_timer', { query: each, all: false })
  if (outcome.reason === 'not_found' && kind === '')
    return `I found no reminder about “${words}”, and I can cancel nothing else.`
  return cancelled(outcome, wanted.length === 0 ? null : words, WHICH_ONE, present)
}

const ALL_OR_ONE =
  'Alarms, timers and reminders are one list. Say “cancel all reminders” to cancel these, or name one:'

/** `question` introduces the timers if several match. */
function cancelled(outcome: Outcome, words: string | null, question: string, present: Present): string {
  if (outcome.reason === 'not_found') return NO_SUCH(words ?? '')
  if (outcome.reason === 'ambiguous') return choiceOf(question, outcome.timers, present)
  if (!outcome.ok) return whyNot(outcome)
  return `Cancelled: ${outcome.timers.map(({ title = 'the timer' }) => `“${title}”`).join(', ')}.`
}

const STOP = '(?:cancel|stop|delete|remove|clear|kill|end|dismiss|turn off|switch off|get rid of|drop)'
const SHOW =
  "(?:(?:show|list|display|give|tell|see|view|read|check)(?: me)?|what(?: are|'?re|'?s| is)?|which|(?:do i have|have i got|is there|(?:did|have) i set)(?: an?)?|is|are there|how many|any|all|my)"
const TIME_FIRST =
  '((?:in|at|on|every|each|tomorrow|tonight|today|next|this) .{1,120}?|tomorrow|tonight),?(?: please)?'
const REMIND_LAST =
  '([^?]{3,300}?)(?:[,.;:!-]{1,3} (?:(?:and|so|please|can you|could you) ){0,3}|,? (?:and|so) (?:please )?| (?=remind me$))remind me(?: (?:of|about) (?:it|this|that))?(?! (?:to|of|about|that)\\b)(?: (.{1,100}))?'

/** "I have to call the plumber tomorrow, remind me". */
export const remindIntent: Intent = on(
  REMIND_LAST,
  ([what = '', time = ''], world) =>
    isStatement(what) ? setTimer(tidy(`${what} ${time}`), 'reminder', world) : null,
  'content',
)

/** "Boiler service in a year, remind me". After all that might be a request of its own. */
export const remindOfRequestIntent: Intent = on(REMIND_LAST, ([what = '', time = ''], world) =>
  isQuestion(what) ? null : whereTimed(tidy(`${what} ${time}`), 'reminder', world),
)

/** Before the intents that look up what is remembered: "what do you have for Saturday?". */
export const dayIntent: Intent = on(
  '((?:what|how|do|have|am|is|anything|something)\\b.{1,100})',
  ([question = ''], world) => agendaAsked(question, world),
)

export const timerIntents: readonly Intent[] = [
  on(
    "how (?:long|much time)(?:'s| is| do i have| have i got)?(?: there| still)? (?:left|remaining|to go)(?: (?:on|for|in) (.{1,60}))?",
    ([words = ''], world) => timeLeft(tidy(words), world),
  ),
  on(`(?:when|what)(?:'s| is) (?:my|the) next ${KIND}`, (_groups, world) => timeLeft('', world)),
  on(
    [
      `${SHOW}(?: on| list| all| any| of| my| the| active| current| upcoming| next| pending| some| more)* ${KIND}s?(?: (?:do i have|have i got|are (?:there|set|running|active)|i have|set|running|coming up|left|on))*((?: (?:on|for|due|about|to|in) .{1,60}| ${SPAN})?)`,
      `(?:how (?:long|much time)|when (?:does|is|will)|what time (?:is|does|will)) (?:(?:left|is|on|the|my|next) )*((?:.{1,40} )?)${KIND}s?(?: .{0,40})?`,
      `${KIND}s`,
      'what (?:did i ask you to|will you|are you going to) remind me (?:about|of)()',
      `what(?:'s| is| do i have)(?: coming up| planned| next| on my (?:schedule|agenda|calendar))()`,
    ],
    ([words = ''], world) => agenda(words, world),
  ),
  on(
    `${STOP} (?:all|every)(?: of)?(?: my| the)? (${KIND})s?(?: (?:for|about|to|that|of|called))?(?: (.{1,200}))?`,
    ([kind = '', words = ''], world) => cancelAll(tidy(words), kind, world),
  ),
  on(
    [
      `${STOP} (?:all|every|both)(?: of)?(?: my| the)? (.{1,100}?) (${KIND})s?`,
      `${STOP} (?:the |my )?(?!all|every)(.{1,100}?) (${KIND})s`,
    ],
    ([words = '', kind = ''], world) => cancelAll(tidy(words), kind, world),
  ),
  on(
    `${STOP} (?:the |my |that |this )?(?:(.{1,200}?) )??(${KIND})(?: (?:called|named|titled|for|about|to|that|of))?(?: (.{1,200}))?`,
    ([before = '', kind = '', after = ''], world) => cancel(tidy(`${before} ${after}`), kind, world),
  ),
  on('remind me (?:(?:about|of|to) )?(.{1,100}) instead', ([words = ''], world) => moveOrSet(words, world)),
  ...moveIntents,
  on(
    `(?:set|start|create|make|add|schedule|put|give me|run|begin|i need|need)(?: me)?(?: up)?(?: an?| another| the| my)?(?: new)?(?: ([^:]{1,300}))? (${KIND})(?: (.*))?`,
    ([before = '', kind = '', after = ''], world) =>
      setTimer(`${before === '' ? '' : `${before} ${kind} `}${after}`, kind, world),
  ),
  on('(remind|wake) me(?: up| again| later)*[:,]?(?: (.*))?', ([verb = '', words = ''], world) =>
    setTimer(ofSaid(words, world), verb, world),
  ),
  on(`(${KIND})[:,]? (.+)`, ([kind = '', words = ''], world) => whereTimed(words, kind, world)),
  on(`(.{1,60})[ -](${KIND})`, ([words = '', kind = ''], world) =>
    whereTimed(`${words} ${kind}`, kind, world),
  ),
  on('(?:ping|nudge|alert|notify|tell|text|call|message) me (.+)', ([words = ''], world) =>
    whereTimed(words, 'reminder', world),
  ),
  on(
    "(?:remember|(?:don'?t|do not) (?:let me )?forget|make sure (?:that )?i(?: remember)?) (to .+)",
    ([words = ''], world) => setTimer(words, 'reminder', world),
  ),
  on("(?:don'?t|do not) let me forget ((?:about )?.+)", ([words = ''], world) =>
    whereTimed(words, 'reminder', world),
  ),
  on("(?:stop|quit|don't|do not) remind(?:ing)? me (?:about|of|to) (.{1,200})", ([words = ''], world) =>
    cancel(tidy(words), 'reminder', world),
  ),
  on('(?:no,? )?cancel (?:the |my |that |this )?(.{1,200})', ([words = ''], world) =>
    cancel(tidy(words), '', world),
  ),
  // "In ten minutes, remind me to …", "every morning at 8 wake me".
  on(
    `${TIME_FIRST} (wake|remind|ping|alert|tell|notify) me(?: up)?(?: (.*))?`,
    ([time = '', verb = '', words = ''], world) => whereTimed(`${time} ${words}`.trim(), verb, world),
  ),
]
