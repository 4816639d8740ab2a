import { findAnswers, isBeside, type Known } from '../facts.ts'
import type { Steps, World } from '../intent.ts'
import { tellRecordedDay } from '../local-time.ts'
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

/** Answers from what is at hand, else from memory and timeline. Only the owner's own statements are answers. */
export function* lookUp(question: string, isTopic: boolean, world: World): Steps {
  const known = world.conversation.known()
  const stated = (each: Known) => world.stated(each)
  const given = findAnswers(question, known, stated)
  if (given.length > 0 && !isTopic && !isBeside(question, given)) return tellAnswers(question, given, world)
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
  // The newest last; memories count as the later word.
  const found = [...said.reverse(), ...remembered.reverse()].filter(({ text }) => text !== '')
  const answers = findAnswers(question, [...found, ...known], stated)
  if (answers.length > 0) return tellAnswers(question, answers, world)
  if (results.some(({ forgotten }) => forgotten > 0)) return HAD_FORGOTTEN
  return isTopic || (isPersonal(question) && !WANTS_ADVICE.test(question)) ? NOTHING_FOUND : needsModel(world)
}

/** Asks for advice or a deed, which no fact answers. */
const WANTS_ADVICE = /\b(?:should|could|can) (?:i|we)\b|^(?:can|could|would|will) you\b/i

/** A search finds what has all its words: so all that matter, then the one that matters most, then its slot. */
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

function tellAnswers(question: string, answers: readonly Known[], { present }: World): string {
  const lead = isBeside(question, answers) ? 'I don’t know exactly. ' : ''
  const told = answers.map(({ text, at }) => ({ text: toYou(text), day: tellRecordedDay(at, present) }))
  const [only, ...others] = told
  if (only && others.length === 0)
    return `${lead}You told me${only.day === null ? '' : ` ${only.day}`}: ${only.text}.`
  return `${lead}You told me:\n\n${bullets(told.map(({ text, day }) => `${capitalise(text)}${day === null ? '' : ` (${day.replace(/^on /, '')})`}`))}`
}

/** Says that a request needs a language model, but not twice in a row. */
export function needsModel({ conversation: { past } }: World): string {
  return past[0]?.reply.includes(NEEDS_MODEL) ? NEEDS_MODEL_AGAIN : NEEDS_MODEL
}

/** Answers what is no request that any intent knows. */
export function fallback(text: string, world: World): string {
  if (!/[\p{L}\p{N}]/u.test(text)) return /\p{Extended_Pictographic}/u.test(text) ? '🙂' : 'I’m listening.'
  if (isForeign(text)) return world.conversation.past[0]?.reply === FOREIGN ? NOT_UNDERSTOOD : FOREIGN
  if (isStatement(text)) return 'Noted.'
  return asksFor(text) ? needsModel(world) : NOT_UNDERSTOOD
}
