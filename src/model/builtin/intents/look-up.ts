import { findAnswers, isOffTopic, type Known } from '../facts.ts'
import type { Steps, World } from '../intent.ts'
import { formatRecordedDay } from '../local-time.ts'
import { asksFor, bullets, capitalise, isForeign, isPersonal, isStatement, toYou } from '../text.ts'
import {
  FOREIGN,
  HAD_FORGOTTEN,
  NEEDS_MODEL,
  NEEDS_MODEL_AGAIN,
  NOT_UNDERSTOOD,
  NOTHING_FOUND,
} from '../wording.ts'
import { isAspect, queryWords, senseOf } from '../words.ts'

/** Answers from the context, else from memory and timeline. Only statements of the owner count. */
export function* lookUp(question: string, isTopic: boolean, world: World): Steps {
  const known = world.conversation.known()
  const stated = (each: Known) => world.stated(each)
  const given = findAnswers(question, known, stated)
  if (given.length > 0 && !isTopic && !isOffTopic(question, given))
    return formatAnswers(question, given, world)
  const calls = searchesFor(question).filter(({ name }) => world.can(name))
  const results = calls.length === 0 ? [] : yield calls
  const remembered = results.flatMap(({ memories }) =>
    memories.map(({ text = '', since = null }) => ({ text, at: since })),
  )
  const said = results.flatMap(({ hits }) =>
    hits
      .filter(({ who, text = '' }) => who === 'owner' && !/\?\s*…?$/.test(text))
      .map(({ text = '', at = null }) => ({ text, at, isSaid: true })),
  )
  // Newest last. Memories count as newer than the timeline.
  const found = [...said.reverse(), ...remembered.reverse()].filter(({ text }) => text !== '')
  const answers = findAnswers(question, [...found, ...known], stated)
  if (answers.length > 0) return formatAnswers(question, answers, world)
  if (results.some(({ forgotten }) => forgotten > 0)) return HAD_FORGOTTEN
  return isTopic || (isPersonal(question) && !WANTS_ADVICE.test(question)) ? NOTHING_FOUND : needsModel(world)
}

/** Requests for advice or action, which no fact answers. */
const WANTS_ADVICE = /\b(?:should|could|can) (?:i|we)\b|^(?:can|could|would|will) you\b/i

/** A search must match all its words, so try all of them, then the main one, then its slot. */
function searchesFor(question: string) {
  const { keys, aspects } = queryWords(question)
  if (keys.length === 0) return []
  const all = [...keys, ...aspects].join(' ')
  const most = keys.toSorted((a, b) => b.length - a.length)[0] ?? all
  const slots = keys.filter(isAspect).map(senseOf)
  return [
    ...[...new Set([all, most, ...slots])].map((query) => ({ name: 'recall', args: { query } })),
    { name: 'search_timeline', args: { query: keys.join(' ') } },
  ]
}

function formatAnswers(question: string, answers: readonly Known[], { present }: World): string {
  const lead = isOffTopic(question, answers) ? 'I don’t know exactly. ' : ''
  const told = answers.map(({ text, at }) => ({ text: toYou(text), day: formatRecordedDay(at, present) }))
  const [only, ...others] = told
  if (only && others.length === 0)
    return `${lead}You told me${only.day === null ? '' : ` ${only.day}`}: ${only.text}.`
  return `${lead}You told me:\n\n${bullets(told.map(({ text, day }) => `${capitalise(text)}${day === null ? '' : ` (${day.replace(/^on /, '')})`}`))}`
}

/** Says that a request needs a language model, in other words the second time. */
export function needsModel({ conversation: { past } }: World): string {
  return past[0]?.reply.includes(NEEDS_MODEL) ? NEEDS_MODEL_AGAIN : NEEDS_MODEL
}

/** Answers anything that no intent handles. */
export function fallback(text: string, world: World): string {
  if (!/[\p{L}\p{N}]/u.test(text)) return /\p{Extended_Pictographic}/u.test(text) ? '🙂' : 'I’m listening.'
  if (isForeign(text)) return world.conversation.past[0]?.reply === FOREIGN ? NOT_UNDERSTOOD : FOREIGN
  if (isStatement(text)) return 'Noted.'
  return asksFor(text) ? needsModel(world) : NOT_UNDERSTOOD
}
