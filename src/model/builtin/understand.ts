import type { Exchange } from './conversation.ts'
import { type Intent, matchOf, on, type Reply, type World } from './intent.ts'
import { arithmeticIntent } from './intents/arithmetic.ts'
import { countIntent, dateIntents } from './intents/dates.ts'
import {
  ADDED,
  ASK_ITEMS,
  addIntent,
  addToNamedIntent,
  listIn,
  listIntents,
  ON_LIST,
  removeIntent,
  STARTED,
} from './intents/lists.ts'
import { fallback, lookUp } from './intents/look-up.ts'
import {
  ASK_FORGET,
  ASK_REMEMBER,
  askingIntent,
  correctionIntent,
  forgetIntents,
  recallIntents,
  rememberIntents,
  secrecyIntent,
} from './intents/memories.ts'
import { ASK_NOTE, namedNoteIntent, noteIntents } from './intents/notes.ts'
import { talkIntents } from './intents/talk.ts'
import { taskIntents } from './intents/tasks.ts'
import { timelineIntents } from './intents/timeline.ts'
import {
  ASK_WHAT,
  ASK_WHAT_THEN,
  cancelAllIntent,
  dayIntent,
  remindIntent,
  remindOfRequestIntent,
  timerIntents,
} from './intents/timers.ts'
import {
  type Heard,
  hear,
  isQuestion,
  isStatement,
  MAX_COMMAND_CHARS,
  stretchesOf,
  tidy,
  withoutClosing,
  withoutPoliteness,
} from './text.ts'
import { leadIn, takeWhen } from './when.ts'
import { ASK_WHEN, WHICH_ONE, WILL_REMIND } from './wording.ts'
import { wordsOf } from './words.ts'

const SOMEBODY = '(?!(?:me|it|us|from|to me|for me|this|that|an?)\\b)[\\p{L}+\\d]'
const IS_SOMETHING = '.{0,60} (?:is|are|was|were|has|had|came)\\b'

/** Refuses calls and texts to others, which would otherwise look like statements. */
const beyondIntent = on(
  [
    `(?:text|sms|message|whatsapp|call|phone|ring|dial|e-?mail) (?!${IS_SOMETHING})${SOMEBODY}.*`,
    '(?:call|phone|ring|text) me(?: up| back| now| please)*',
    'send (?!me\\b)(?:.{1,60} )?(?:text|sms|message|whatsapp|e-?mail|mail)\\b.*',
  ],
  () => 'I can’t call, text or write to anybody.',
)

/** Order matters: the first match wins. */
const intents: readonly Intent[] = [
  ...dateIntents,
  ...taskIntents,
  dayIntent,
  ...recallIntents,
  ...timerIntents,
  ...listIntents,
  ...noteIntents,
  ...forgetIntents,
  ...timelineIntents,
  secrecyIntent,
  ...rememberIntents,
  arithmeticIntent,
  remindOfRequestIntent,
  beyondIntent,
  namedNoteIntent,
  askingIntent,
  addIntent,
  addToNamedIntent,
  removeIntent,
  countIntent,
]

type Plan = { readonly reply: Reply; readonly intent: Intent }

function firstPlan(heard: Heard, among: readonly Intent[], world: World): Plan | null {
  for (const intent of among) {
    for (const pattern of intent.patterns) {
      const groups = matchOf(pattern, heard)
      const reply = groups && intent.run(groups, world)
      if (groups && reply !== null) return { reply, intent }
    }
  }
  return null
}

function planFor(text: string, world: World): Plan | null {
  const whole = withoutClosing(hear(text))
  return (
    firstPlan(whole, [cancelAllIntent, ...talkIntents, remindIntent, correctionIntent], world) ??
    firstPlan(withoutPoliteness(whole), [...talkIntents, ...intents], world)
  )
}

/**
 * What an answer to "When?" adds to the request; null if it is about something else. "I think tomorrow at nine" is
 * little more than a time, and "the concert is on Friday" speaks of what was asked, unlike other statements.
 */
function timeIn(answer: string, request: string, { present }: World): string | null {
  if (!isStatement(answer) && !isQuestion(answer)) return answer
  const when = takeWhen(answer, present, { early: false })
  if (when === null || when.kind === 'impossible') return when && answer
  const rest = tidy(when.rest)
  const asked = wordsOf(request)
  const further = wordsOf(rest).filter((word) => !asked.includes(word))
  return further.length > 2 ? null : answer.replace(rest, '')
}

type Join = (request: string, answer: string, question: string, world: World) => string

/** Questions of the delegate, and how to merge the answer into the request. */
const QUESTIONS: readonly (readonly [string, Join])[] = [
  [
    ASK_WHEN,
    (request, answer, _question, world) => {
      const time = timeIn(answer, request, world)
      return time === null ? answer : `${request} ${time}`
    },
  ],
  [ASK_WHAT, (_request, answer) => remindOf('remind me', answer)],
  [ASK_WHAT_THEN, remindOf],
  [ASK_REMEMBER, (_request, answer) => `remember that ${answer.replace(/^that /i, '')}`],
  [ASK_FORGET, (_request, answer) => `forget ${answer}`],
  [ASK_ITEMS, addFirst],
  [ASK_NOTE, (request, answer) => `${request}: ${answer}`],
  [WHICH_ONE, choose],
  [ADDED, addFurther],
  [STARTED, addFurther],
  [ON_LIST, addFurther],
  [WILL_REMIND, remindFurther],
]

function remindOf(request: string, answer: string): string {
  if (isQuestion(answer)) return answer
  return `${request} ${/^(?:to|about|of)\b/i.test(answer) ? '' : 'to '}${answer}`
}

/** "Milk and eggs", or "put milk on it", after a list was named that has nothing on it yet. */
function addFirst(_request: string, answer: string, question: string): string {
  const name = question.slice(ASK_ITEMS.length + 1, -1)
  const [, items = answer] =
    /^(?:(?:please )?(?:add|put|write) )?(.+?)(?: (?:to|on|onto) (?:it|there|that))?$/is.exec(answer) ?? []
  return isQuestion(answer) || isStatement(answer) ? answer : `add ${items} to my ${name}`
}

/** "Also bread", after something was added to a list. */
function addFurther(_request: string, answer: string, reply: string): string {
  const list = listIn(reply)
  const item = /^(?:(?:and|also|plus|some),? )+(.{1,100})$/i.exec(answer)?.[1]
  const isMore = item !== undefined && !isQuestion(item) && !isStatement(item)
  return list === undefined || !isMore ? answer : `add ${item} to my ${list}`
}

/** "And at 5 to buy bread", "and an hour before to leave", after a reminder. */
function remindFurther(_request: string, answer: string, _question: string, { present }: World): string {
  const further = /^(?:and|also|then|plus),? (?:also )?(.{3,200})$/i.exec(answer)?.[1]
  if (further === undefined) return answer
  const when = takeWhen(further, present, { early: false }) ?? leadIn(further, present)
  return when === null ? answer : `remind me ${further}`
}

/** "The second one" and "the Cardiff one" after a list of memories or timers. */
function choose(request: string, answer: string, question: string): string {
  const lines = question.split('\n- ').slice(1)
  const titles = lines.map((line) => line.replace(/(?:: | \().*$/s, ''))
  const place = /\b(?:(first)|(second)|(third)|last)\b/i.exec(answer)
  const said = answer.replace(/^(?:i mean )?(?:the )?|(?: one)?[.!]?$/gi, '').toLowerCase()
  const index = place
    ? place.slice(1).findIndex((word) => word !== undefined)
    : titles.findIndex((title) => title.toLowerCase().includes(said))
  const title = place || index >= 0 ? titles.at(index) : undefined
  if (title === undefined) return answer
  // Of reminders with the same words, the time tells which.
  const isAlone = titles.filter((each) => each.includes(title)).length === 1
  const chosen = isAlone ? title : (lines.at(index) ?? title).replace(/: |, repeating$/g, ' ')
  return `${/^forget/i.test(request) ? 'forget' : 'cancel the reminder'} ${chosen}`
}

/** Merges a message with the earlier request if it answers a question of the delegate. */
function complete(text: string, past: readonly Exchange[], world: World): string {
  const [last, ...earlier] = past
  const join = QUESTIONS.find(([question]) => last?.reply.startsWith(question))?.[1]
  const plan = join && planFor(text, world)
  // "Call the plumber" may be what to put on a list.
  if (!last || !join || (plan && plan.intent !== beyondIntent)) return text
  return join(tidy(complete(last.said, earlier, world)), text, last.reply, world)
}

const MAX_PLANS = 5
/** A longer message that does not start with a request is probably pasted, so nothing in it is obeyed. */
const MAX_REQUESTS_CHARS = 500

/** The replies to a message, one per request in it; never empty. */
export function repliesTo(message: string, world: World): readonly Reply[] {
  const completed = complete(message, world.conversation.past, world)
  const continued = completed === message ? null : planFor(completed, world)
  if (continued) return [continued.reply]
  const whole = planFor(message, world)
  if (whole && (whole.intent.kind === 'content' || message.length > MAX_COMMAND_CHARS)) return [whole.reply]
  const asked = plansIn(message, world)
  const requests = asked.filter(({ intent }) => intent.kind !== 'talk')
  if (requests.length > 0) return requests.slice(0, MAX_PLANS).map(({ reply }) => reply)
  const talk = whole ?? asked.at(-1)
  if (talk) return [talk.reply]
  const { original } = withoutPoliteness(withoutClosing(hear(message)))
  const isAsked = isQuestion(original) && /[\p{L}\p{N}]/u.test(original)
  return [isAsked ? lookUp(original, false, world) : fallback(message, world)]
}

/** One plan per request. Text that asks for nothing joins the memory before it. */
function plansIn(message: string, world: World): Plan[] {
  const plans: Plan[] = []
  let from = 0
  for (const { start, end } of stretchesOf(message)) {
    const plan = planFor(message.slice(start, end), world)
    const last = plans.at(-1)
    const isText = message.length > MAX_REQUESTS_CHARS && last === undefined && plan === null
    if (isText) return []
    if (plan?.intent.kind === 'content') return [...plans, planFor(message.slice(start), world) ?? plan]
    const longer =
      plan === null && last?.intent.kind === 'statement' ? planFor(message.slice(from, end), world) : null
    if (longer && last) plans[plans.length - 1] = longer
    else if (plan) {
      plans.push(plan)
      from = start
    }
  }
  return plans
}
