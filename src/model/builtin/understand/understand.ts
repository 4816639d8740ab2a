import type { Plan, Present } from '../plan.ts'
import {
  isForeign,
  isQuestion,
  isStatement,
  MAX_COMMAND_CHARS,
  splitSentences,
  straighten,
  withoutPoliteness,
} from '../text.ts'
import { beyondRule } from './beyond.ts'
import { clockRule } from './clock-questions.ts'
import { shortenSpaces } from './long-spaces.ts'
import { askingRule, forgetRule, recallRule, rememberRule } from './memory.ts'
import { namedNoteRule, noteRule } from './notes.ts'
import { firstOf, type Rule } from './rules.ts'
import { smallTalkRule } from './small-talk.ts'
import { taskRule } from './tasks.ts'
import { timelineRule } from './timeline.ts'
import { timerRule } from './timers.ts'

/** Order matters: "what did I tell you about X" is memory before it is the timeline, "remind me of X" before it is a timer. */
const commands: Rule = firstOf([
  clockRule,
  taskRule,
  recallRule,
  timerRule,
  noteRule,
  forgetRule,
  timelineRule,
  rememberRule,
  beyondRule,
  namedNoteRule,
  askingRule,
])

const MAX_PLANS = 5
const MAX_PIECES = 20
/** What is longer and does not begin with a request is a text: sentences inside it ask for nothing. */
const MAX_REQUESTS_CHARS = 500
/** Where one request ends and an unmistakable further one begins. */
const AND_ALSO =
  /,?\s+(?:and|then|and then|and also)\s+(?=(?:remind me|set (?:a|an) |wake me|cancel (?:the|my) |(?:make|create|take|write) a note|remember that|delete the|add .{1,80} to (?:my|the) )\b)/i

/**
 * What a message asks for, in order; never empty. Pure: the same message at the same present comes to the same. A
 * message may hold several requests; a note takes all that follows as its content.
 */
export function understand(message: string, present: Present): readonly Plan[] {
  const whole = planFor(message, present)
  if (takesAll(whole) || message.length > MAX_COMMAND_CHARS) return [whole]
  const segments = segmentsOf(message, present)
  const plans = segments.map((segment) => planFor(segment, present))
  const asked = plans.filter(isRequest).slice(0, MAX_PLANS)
  const isText = message.length > MAX_REQUESTS_CHARS && plans[0] !== undefined && !isRequest(plans[0])
  if (asked.length > 0 && !isText) return asked
  return [isRequest(whole) ? whole : (plans.find(({ kind }) => kind === 'say') ?? whole)]
}

function takesAll(plan: Plan): boolean {
  return plan.kind === 'call' && ['create_note', 'update_note', 'dispatch_task'].includes(plan.call.name)
}

function isRequest(plan: Plan): boolean {
  return plan.kind === 'call' || plan.kind === 'cancel-timers' || plan.kind === 'look-up'
}

/** The stretches of a message that are a request each. What asks for nothing by itself belongs to what came before it. */
function segmentsOf(message: string, present: Present): string[] {
  const all = splitSentences(message.slice(0, MAX_COMMAND_CHARS)).flatMap((sentence) =>
    sentence.split(AND_ALSO),
  )
  const pieces = [...all.slice(0, MAX_PIECES - 1), all.slice(MAX_PIECES - 1).join(' ')].filter(
    (each) => each !== '',
  )
  const segments: string[] = []
  for (const piece of pieces) {
    const plan = planFor(piece, present)
    // The text of a note goes on to the end; where nothing can follow it, a further request does.
    const rest = message.slice(message.indexOf(piece))
    if (takesAll(plan) && takesAll(planFor(rest, present))) return [...segments, rest]
    const previous = segments.at(-1)
    const isContinuation = previous !== undefined && !isRequest(plan) && isRequest(planFor(previous, present))
    if (isContinuation && remembers(planFor(previous, present)))
      segments[segments.length - 1] = `${previous} ${piece}`
    else segments.push(piece)
  }
  return segments
}

function remembers(plan: Plan): boolean {
  return plan.kind === 'call' && plan.call.name === 'remember'
}

function planFor(stretch: string, present: Present): Plan {
  const plain = straighten(stretch)
  const talk = smallTalkRule({
    ...shortenSpaces(plain.trim().slice(0, MAX_COMMAND_CHARS)),
    original: stretch.trim(),
    present,
  })
  if (talk) return talk
  const polite = withoutPoliteness(plain)
  const start = plain.indexOf(polite)
  // Long content is matched by its beginning, and then kept whole.
  const isLong = polite.length > MAX_COMMAND_CHARS
  const text = isLong ? polite.slice(0, MAX_COMMAND_CHARS) : polite
  const original = stretch.slice(start, start + text.length)
  const plan = commands({ ...shortenSpaces(text), original, present })
  if (plan) return isLong ? withWholeContent(plan, original, stretch.slice(start + text.length)) : plan
  if (isQuestion(text)) return { kind: 'look-up', question: original, isTopic: false }
  if (isForeign(text)) return { kind: 'foreign' }
  return isStatement(text) ? { kind: 'statement' } : { kind: 'unknown' }
}

const LONG_ARGS: Readonly<Record<string, string>> = {
  create_note: 'content',
  remember: 'text',
  update_note: 'content',
  dispatch_task: 'prompt',
}

/** Content that was too long to be looked at, put back whole: it goes from where it began to the end of what was said. */
function withWholeContent(plan: Plan, head: string, rest: string): Plan {
  if (plan.kind !== 'call') return plan
  const { name, args } = plan.call
  const key = LONG_ARGS[name]
  const value = key === undefined ? undefined : args[key]
  if (key === undefined || typeof value !== 'string') return plan
  const start = head.lastIndexOf(value)
  const whole = start === -1 ? `${value}${rest}` : `${head.slice(start)}${rest}`
  return { ...plan, call: { name, args: { ...args, [key]: whole.trim() } } }
}
