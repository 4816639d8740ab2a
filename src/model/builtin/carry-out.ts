import { findAnswers, isBeside, isOfAnother, type Known } from './facts.ts'
import { tellDay, tellShort } from './local-time.ts'
import { type Call, type Plan, type Present, timelineSearch } from './plan.ts'
import { listsOf } from './results.ts'
import type { Done } from './situation.ts'
import { tell } from './tell.ts'
import { isForeign, isPersonal } from './text.ts'
import { understand } from './understand/understand.ts'
import {
  BESIDE,
  bullets,
  FOREIGN,
  HAD_FORGOTTEN,
  NEEDS_MODEL,
  NOT_REMEMBERED,
  NOTHING_FOUND,
  quote,
  STATEMENT,
} from './wording.ts'
import { isAspect, queryWords, slotOf } from './words.ts'

/** What one plan leads to now: calls that are still to be made, or what is to be said. */
export type Step = { readonly calls: readonly Call[] } | { readonly text: string }

export type World = {
  readonly present: Present
  readonly known: () => readonly Known[]
  readonly can: (tool: string) => boolean
}

/** Finds the results of a plan's calls among those of the turn; each result is taken once. */
export type TakeDone = (call: Call) => Done | null

/** The next step of a plan. Called anew in each round with all results so far; ends in a text in the third at the latest. */
export function carryOut(plan: Plan, world: World, takeDone: TakeDone): Step {
  switch (plan.kind) {
    case 'say':
      return { text: plan.text }
    case 'statement':
      return { text: STATEMENT }
    case 'unknown':
      return { text: NEEDS_MODEL }
    case 'foreign':
      return { text: FOREIGN }
    case 'call':
      return plan.isOwn
        ? forgetOwn(String(plan.call.args.query), world, takeDone)
        : carryOutCall(plan.call, plan.remark, world, takeDone)
    case 'cancel-timers':
      return cancelTimers(plan.which, world, takeDone)
    case 'look-up':
      return lookUp(plan.question, plan.isTopic, world, takeDone)
  }
}

function carryOutCall(call: Call, remark: string | undefined, world: World, takeDone: TakeDone): Step {
  const done = takeDone(call)
  if (!done) return world.can(call.name) ? { calls: [call] } : { text: 'I cannot do that here.' }
  // The tool says that several match, in words for a model: the owner wants to see which.
  const choice =
    !done.result.ok && done.result.reason === 'ambiguous' ? CHOICES[call.name]?.(call) : undefined
  if (!choice || !world.can(choice.name)) return { text: tell(done, world.present, remark) }
  const listed = takeDone(choice)
  if (!listed) return { calls: [choice] }
  return { text: `Several match that; please say which one you mean.\n\n${tell(listed, world.present)}` }
}

const CHOICES: Readonly<Record<string, (call: Call) => Call>> = {
  forget: ({ args }) => ({ name: 'recall', args: { query: args.query } }),
  cancel_timer: () => ({ name: 'list_timers', args: {} }),
}

function forgetOwn(query: string, world: World, takeDone: TakeDone): Step {
  const list: Call = { name: 'recall', args: { query } }
  const forget = (words: string) =>
    carryOutCall({ name: 'forget', args: { query: words } }, undefined, world, takeDone)
  if (!world.can(list.name)) return { text: 'I cannot do that here.' }
  const listed = takeDone(list)
  if (!listed) return { calls: [list] }
  const { memories } = listsOf(listed.result)
  const own = memories.filter(({ text = '' }) => !isOfAnother(text, query.split(' ')))
  const [only, ...others] = own
  if (others.length > 0)
    return { text: `Several match that; please say which one you mean.\n\n${tell(listed, world.present)}` }
  if (memories.length > 0 && !only) return { text: NOT_REMEMBERED }
  return forget(only?.id ?? query)
}

function cancelTimers(which: 'only' | 'all', world: World, takeDone: TakeDone): Step {
  const list: Call = { name: 'list_timers', args: {} }
  if (!world.can('list_timers') || !world.can('cancel_timer')) return { text: 'I cannot do that here.' }
  const listed = takeDone(list)
  if (!listed) return { calls: [list] }
  const { timers } = listsOf(listed.result)
  const isUnclear = which === 'only' && timers.length > 1
  if (!listed.result.ok || timers.length === 0) return { text: tell(listed, world.present) }
  if (isUnclear) return { text: `Which one? ${tell(listed, world.present)}` }
  const calls = timers.flatMap(({ id }): Call[] =>
    id === undefined ? [] : [{ name: 'cancel_timer', args: { query: id } }],
  )
  const results = calls.map((each) => takeDone(each))
  const done = results.filter((each) => each !== null)
  if (done.length < calls.length) return { calls: calls.filter((_call, index) => results[index] === null) }
  return { text: done.map((each) => tell(each, world.present)).join('\n') }
}

/** Answers from what is given, else from memory and timeline, asked once; says so when there is nothing. */
function lookUp(question: string, isTopic: boolean, world: World, takeDone: TakeDone): Step {
  const given = findAnswers(question, world.known(), toStatement(world))
  if (given.length > 0 && !isTopic && !isBeside(question, given)) return { text: tellKnown(given, world) }
  const calls = searchesFor(question).filter(({ name }) => world.can(name))
  const done = calls.map((call) => takeDone(call))
  if (done.some((each) => each === null))
    return { calls: calls.filter((_call, index) => done[index] === null) }
  const found = done.flatMap((each) => (each ? foundIn(each) : []))
  const answers = findAnswers(question, [...found, ...world.known()], toStatement(world))
  if (answers.length > 0) {
    const lead = isBeside(question, answers) ? `${BESIDE} ` : ''
    return { text: `${lead}${tellKnown(answers, world)}` }
  }
  if (done.some((each) => each && listsOf(each.result).forgotten > 0)) return { text: HAD_FORGOTTEN }
  if (isForeign(question)) return { text: `${NOTHING_FOUND} ${FOREIGN}` }
  if (isTopic || isPersonal(question)) return { text: NOTHING_FOUND }
  return { text: `${NOTHING_FOUND} ${NEEDS_MODEL}` }
}

/** Searches want every word to occur: all that matter, then the one that matters most. */
function searchesFor(question: string): Call[] {
  const { keys, aspects } = queryWords(question)
  if (keys.length === 0) return []
  const all = [...keys, ...aspects].join(' ')
  const most = keys.toSorted((a, b) => b.length - a.length)[0] ?? all
  const slots = keys.filter(isAspect).flatMap((key) => slotOf(key) ?? [])
  const queries = [...new Set([all, most, ...slots])]
  return [...queries.map((query) => ({ name: 'recall', args: { query } })), timelineSearch(keys.join(' '))]
}

/** What the owner asked for then is no answer now; what they asked to be remembered is. */
function toStatement({ present }: World) {
  return (said: Known): Known | null => {
    const [plan] = understand(said.text, present)
    if (plan?.kind === 'call' && plan.call.name === 'remember')
      return { ...said, text: String(plan.call.args.text) }
    return plan?.kind === 'statement' || plan?.kind === 'unknown' || plan?.kind === 'foreign' ? said : null
  }
}

/** Statements among results: memories, and what the owner said. What the delegate said is no source of facts. */
function foundIn({ result }: Done): Known[] {
  const { memories, hits } = listsOf(result)
  const remembered = memories.map(({ text = '', since = null }) => ({ text, at: since }))
  const said = hits
    .filter(({ who, text = '' }) => who === 'owner' && !/\?\s*…?$/.test(text))
    .map(({ text = '', at = null }) => ({ text, at, isSaid: true }))
  // Newest last, as everywhere; memories count as the later word.
  return [...said.reverse(), ...remembered.reverse()].filter(({ text }) => text !== '')
}

function tellKnown(answers: readonly Known[], { present }: World): string {
  const lines = answers.map(
    ({ text, at }) => `${quote(text)}${at === null ? '' : ` (${dateOf(at, present)})`}`,
  )
  return lines.length === 1 ? `You told me: ${lines[0]}` : `You told me:\n\n${bullets(lines)}`
}

function dateOf(at: string, { timezone }: Present): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(at) ? tellDay(at) : tellShort(at, timezone)
}
