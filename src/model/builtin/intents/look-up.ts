import { translateTo } from '../../../language/languages.ts'
import { type Fact, findAnswers, isOffTopic, isOfOwner } from '../facts.ts'
import { type Steps, type StepsTo, use, type World } from '../intent.ts'
import { formatRecordedDay } from '../local-time.ts'
import { asksFor, bullets, capitalise, isPersonal, isQuestion, isStatement, toYou } from '../text.ts'
import { datesIn } from '../when.ts'
import { HAD_FORGOTTEN, NEEDS_MODEL, NEEDS_MODEL_AGAIN, NOT_UNDERSTOOD, NOTHING_FOUND } from '../wording.ts'
import { isAspect, queryWords, senseOf } from '../words.ts'
import { dueFor, isReminder } from './agenda.ts'
import { linked } from './notes.ts'

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
    [...result.hits, ...result.said]
      .filter(
        ({ who, text = '' }) => who === 'owner' && !asksFor(text) && !isQuestion(text) && !isReminder(text),
      )
      .map(({ text = '', at = null }) => ({ text, at })),
  )
  const [known = [], heard = []] = [remembered, said].map((facts) => findAnswers<Told>(question, facts))
  const found = [known, heard].filter(({ length }) => length > 0)
  const told = found.find((facts) => !isOffTopic(question, facts)) ?? found[0] ?? []
  // "I'm not vegetarian any more" may be no memory, but it is newer than the one that says the opposite.
  const lastMs = Math.max(...known.map(msOf))
  const newer = told === known && !isOfOwner(question) ? heard.filter((fact) => msOf(fact) > lastMs) : []
  return { told: [...newer, ...told], isForgotten: results.some(({ forgotten }) => forgotten > 0) }
}

/** The next date of an event, in the words in which the owner told it; "" if there is none. */
export function* toldDate(event: string, world: World): StepsTo<string> {
  const { told } = yield* findTold(`When is ${event}?`, world)
  const dates = told.flatMap(({ text }) => datesIn(text, world.present).map((date) => date.text))
  const thisYear = world.present.now.getUTCFullYear()
  // A birthday comes back every year.
  const isOver = (year: string) => Number(year.slice(-4)) < thisYear
  return [...new Set(dates)].join(' ').replace(/,? (?:19|20)\d\d\b/g, (year) => (isOver(year) ? '' : year))
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
  return isTopic || (isPersonal(question) && !WANTS_ADVICE.test(question)) ? NOTHING_FOUND : needsModel(world)
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
  const facts = notes.map(({ id, title = '', excerpt = '' }) => {
    const line = excerpt.startsWith(title) ? linked(id, title) : `${linked(id, title)}: ${excerpt}`
    return { line, text: `${title} ${excerpt}`, at: null }
  })
  const lines = findAnswers(question, facts).map(({ line }) => line)
  return lines.length === 0 ? null : `In your notes:\n\n${bullets(lines)}`
}

/** Requests for advice or action, which no fact answers. */
const WANTS_ADVICE =
  /\b(?:should|could|can) (?:i|we)\b|^(?:can|could|would|will) you\b|^how do (?:i|we)\b(?!.*\b(?:my|our)\b)/i

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
export function needsModel({ conversation: { past } }: World): string {
  return past[0]?.reply.includes(NEEDS_MODEL) ? NEEDS_MODEL_AGAIN : NEEDS_MODEL
}

/** Answers anything that no intent handles. */
export function fallback(text: string, world: World): string {
  if (!/[\p{L}\p{N}]/u.test(text)) return 'I’m listening.'
  if (isStatement(text)) return 'Noted.'
  return asksFor(text) ? needsModel(world) : translateTo(world.present.language, NOT_UNDERSTOOD)
}
