import type { ParsedResult } from 'chrono-node'
import { translateTo } from '../../../language/languages.ts'
import { type Fact, findAnswers, isOffTopic, isOfOwner } from '../facts.ts'
import { type Present, type Steps, type StepsTo, use, type World } from '../intent.ts'
import { formatRecordedDay } from '../local-time.ts'
import { PARTS_OF_DAY } from '../recurrence.ts'
import { whyNot } from '../results.ts'
import { asksFor, bullets, capitalise, isPersonal, isQuestion, isStatement, toYou } from '../text.ts'
import { datesIn } from '../when.ts'
import {
  HAD_FORGOTTEN,
  NEEDS_MODEL,
  NEEDS_MODEL_AGAIN,
  NOT_UNDERSTOOD,
  NOTHING_FOUND,
  NOTHING_KNOWN,
} from '../wording.ts'
import { isAspect, queryWords, senseOf } from '../words.ts'
import { dueFor, withoutReminder } from './agenda.ts'
import { excerptOf, isFirstLine, linked } from './notes.ts'

/** A memory with its id, or what the owner said. */
type Told = Fact & { readonly id?: string | undefined }

const msOf = ({ at }: Fact) => (at === null ? 0 : Date.parse(at))

/** Finds the memories that answer a question, else what the owner said on the timeline that answers it. */
export function* findTold(question: string, { can }: World): StepsTo<{ told: Told[]; isForgotten: boolean }> {
  const calls = searchesFor(question).filter(({ name }) => can(name))
  const results = calls.length === 0 ? [] : yield calls
  const remembered = results.flatMap(({ memories }) =>
    memories.map(({ id, text = '', since = null }) => ({ id, text, at: since })),
  )
  const said = results.flatMap((result) =>
    [...result.hits, ...result.said].flatMap(({ who, text: all = '', at = null }) => {
      const text = withoutReminder(all)
      return who === 'owner' && text !== '' && !asksFor(text) && !isQuestion(text) ? [{ text, at }] : []
    }),
  )
  const [known = [], heard = []] = [remembered, said].map((facts) => findAnswers<Told>(question, facts))
  const found = [known, heard].filter(({ length }) => length > 0)
  const told = found.find((facts) => !isOffTopic(question, facts)) ?? found[0] ?? []
  // "I'm not vegetarian any more" may be no memory, but it is newer than the one that says the opposite.
  const lastMs = Math.max(...known.map(msOf))
  const newer = told === known && !isOfOwner(question) ? heard.filter((fact) => msOf(fact) > lastMs) : []
  return { told: [...newer, ...told], isForgotten: results.some(({ forgotten }) => forgotten > 0) }
}

/** The next date of an event, in words that mean the same today as when the owner told it; "" if there is none. */
export function* toldDate(event: string, world: World): StepsTo<string> {
  const { told } = yield* findTold(`When is ${event}?`, world)
  return [...new Set(told.flatMap((fact) => datesTold(fact, world.present)))].join(' ')
}

const RHYTHM = /\b(?:every|each|always)\b|\p{L}(?:days|mornings|evenings)\b/iu

/**
 * The dates in a fact. "Next Thursday" counts from the day on which the owner said it, so it becomes a date; "12 March"
 * and "on Thursdays" recur, so they stay words.
 */
function datesTold({ text, at }: Fact, present: Present): string[] {
  const dayOf = ({ start }: ParsedResult) => `${start.get('month')}-${start.get('day')}`
  const thisYear = present.now.getUTCFullYear()
  // A birthday comes back every year.
  const withoutYear = (words: string) =>
    words.replace(/,? (?:19|20)\d\d\b/g, (year) => (Number(year.slice(-4)) < thisYear ? '' : year))
  const today = datesIn(text, present)
  if (at === null || RHYTHM.test(text)) return today.map((date) => withoutYear(date.text))
  return datesIn(text, { ...present, now: new Date(at) }).map((date, index) => {
    const now = today[index]
    return now && dayOf(now) === dayOf(date) ? withoutYear(date.text) : inFull(date)
  })
}

/** "2026-12-03 at 6:15 pm", with "pm" only if that is certain. */
function inFull({ text, start }: ParsedResult): string {
  const two = (value: number | null) => String(value ?? 0).padStart(2, '0')
  const day = `${start.get('year')}-${two(start.get('month'))}-${two(start.get('day'))}`
  const part = PARTS_OF_DAY.find(([words]) => words.test(text))?.[1]
  if (!start.isCertain('hour')) return part === undefined ? day : `${day} at ${part}:00`
  const hour = start.get('hour') ?? 0
  const isExact = start.isCertain('meridiem')
  return `${day} at ${isExact ? hour % 12 || 12 : hour}:${two(start.get('minute'))}${isExact ? (hour < 12 ? ' am' : ' pm') : ''}`
}

/** Answers a question, or says that nothing was found, was forgotten, or needs a language model. */
export function* lookUp(question: string, isTopic: boolean, world: World): Steps {
  const { told, isForgotten } = yield* findTold(question, world)
  const due = told.length === 0 || isOffTopic(question, told) ? yield* dueFor(question, world) : []
  if (due.length > 0) return bullets(due)
  if (told.length > 0) return formatAnswers(question, told, world)
  if (isForgotten) return HAD_FORGOTTEN
  const noted = yield* findNoted(question, world)
  if (noted !== null) return noted
  if (isTopic || (isPersonal(question) && !WANTS_ADVICE.test(question))) return NOTHING_FOUND
  return ASKS_FACT.test(question) ? unknown(world) : needsModel(world)
}

/** A longer question would take too many searches. */
const MAX_KEYS = 6

const listNotes = (query: string) => ({ name: 'list_notes', args: { query } })

/** The notes whose beginning answers a question; null if there are none. */
export function* findNoted(question: string, { can }: World): StepsTo<string | null> {
  const { keys } = queryWords(question)
  if (keys.length === 0 || !can('list_notes')) return null
  const all = yield* use('list_notes', { query: keys.join(' ') })
  // A note that answers may lack some of the words. Of fewer than three it needs all.
  const isSearched = all.notes.length === 0 && keys.length >= 3 && keys.length <= MAX_KEYS
  const some = isSearched ? yield keys.map(listNotes) : []
  const notes = [all, ...some].flatMap((outcome) => outcome.notes)
  const hits = Map.groupBy(notes, ({ id = '' }) => id)
  const found = [...hits.entries()].flatMap(([id, [note, ...again]]) => {
    const { title = '', excerpt = '' } = note ?? {}
    const isFound = (again.length + 1) * 2 > keys.length || all.notes.length > 0
    // The search matches prefixes, and an excerpt may lack the words.
    const isShort = !`${title}${excerpt}`.includes('…')
    const answers = findAnswers(question, [{ text: `${title} ${excerpt}`, at: null }]).length > 0
    const line = excerpt.startsWith(title) ? linked(id, title) : `${linked(id, title)}: ${excerpt}`
    return answers || (isFound && !isShort) ? [{ id, line }] : []
  })
  const [only, ...others] = found
  if (only === undefined) return null
  if (others.length === 0 && can('read_note')) return yield* quoteNote(only.id)
  return `In your notes:\n\n${bullets(found.map(({ line }) => line))}`
}

/** The whole note, because the answer may stand further down. */
function* quoteNote(query: string): Steps {
  const outcome = yield* use('read_note', { query })
  if (!outcome.ok) return whyNot(outcome)
  const { id, title = '', content = '' } = outcome.note ?? {}
  return `In your ${isFirstLine(title, content) ? linked(id, 'note') : `note ${linked(id, title)}`}:\n\n${excerptOf(content)}`
}

/** Requests for advice or action, which no fact answers. */
const WANTS_ADVICE =
  /\b(?:should|could|can) (?:i|we)\b|^(?:can|could|would|will) you\b|^how do (?:i|we)\b(?!.*\b(?:my|our)\b)/i

/** A question that a fact answers, whether the owner's or the world's. */
const ASKS_FACT = /^(?:who|whose|what|when|where|which)(?:'?s|'?re)?\b(?!.* \b(?:should|can|could)\b)/i

/** The newest memories include what was said a moment ago. A search must match all its words. */
function searchesFor(question: string) {
  const { keys, aspects } = queryWords(question)
  if (keys.length === 0) return []
  const slots = keys.filter(isAspect).map(senseOf)
  const queries = new Set([[...keys, ...aspects].join(' '), keys.join(' '), ...slots])
  return [
    ...[null, ...queries].map((query) => ({ name: 'recall', args: { query } })),
    { name: 'search_timeline', args: { query: keys.join(' ') } },
  ]
}

function formatAnswers(question: string, answers: readonly Fact[], { present }: World): string {
  const lead = isOffTopic(question, answers) ? 'I don’t know exactly. ' : ''
  const told = answers.map(({ text, at }) => ({ text: toYou(text), day: formatRecordedDay(at, present) }))
  const [only, ...others] = told
  if (only && others.length === 0)
    return `${lead}You told me${only.day === null ? '' : ` ${only.day}`}: ${only.text}.`
  return `${lead}You told me:\n\n${bullets(told.map(({ text, day }) => `${capitalise(text)}${day === null ? '' : ` (${day.replace(/^on /, '')})`}`))}`
}

/** Says that a request needs a language model, in other words the second time. */
export function needsModel({ conversation: { past }, present }: World): string {
  const text = translateTo(present.language, NEEDS_MODEL)
  return past[0]?.reply.includes(text) ? NEEDS_MODEL_AGAIN : text
}

/** Says that nothing answers a question, without the hint the second time. */
const unknown = ({ conversation: { past } }: World) =>
  past[0]?.reply === NOTHING_KNOWN ? NOTHING_FOUND : NOTHING_KNOWN

/** Answers anything that no intent handles. */
export function fallback(text: string, world: World): string {
  if (!/[\p{L}\p{N}]/u.test(text)) return 'I’m listening.'
  if (isStatement(text)) return 'Noted.'
  return asksFor(text) ? needsModel(world) : translateTo(world.present.language, NOT_UNDERSTOOD)
}
