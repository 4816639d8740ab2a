import { isAspect, queryWords, senseOf, wordsOf } from './words.ts'

/** Something that is known: a memory's line or what the owner said; later ones are newer. */
export type Known = {
  readonly text: string
  readonly at: string | null
  /** Words of the owner as they were said: they may be a request rather than a statement. */
  readonly isSaid?: boolean
  /** It stands against what was said of the same thing before. */
  readonly corrects?: boolean
}

const MAX_ANSWERS = 3
const MAX_LOOKED_AT = 20
/** How much worse than the best an answer may be, to be given as well. */
const NEAR_BEST = 0.8
const KEY_WEIGHT = 2

/**
 * The statements that a question is about, best first, the newer first among equals: those that have more than half
 * of its key words, by stem. A statement that has only an aspect of it ("name") is none. `toStatement` says what there
 * is of a statement in what was said; null for none.
 */
export function findAnswers(
  question: string,
  known: readonly Known[],
  toStatement: (said: Known) => Known | null,
): Known[] {
  const { keys, aspects } = queryWords(question)
  const keyStems = keys.map(senseOf)
  const aspectStems = aspects.map(senseOf)
  if (keyStems.length === 0) return []
  const isOwn = isOfOwner(question, keys, aspects)
  const scored = known.flatMap((statement, index) => {
    const stems = new Set(wordsOf(statement.text).map(senseOf))
    if (SAYS_NAME.test(statement.text)) stems.add('name')
    if (isOwn && isOfAnother(statement.text, keys)) return []
    const keyHits = keyStems.filter((each) => stems.has(each)).length
    if (keyHits * 2 <= keyStems.length && keyHits < keyStems.length) return []
    const aspectHits = aspectStems.filter((each) => stems.has(each)).length
    const score = keyHits * KEY_WEIGHT + aspectHits
    return [{ statement, index, score }]
  })
  const best = Math.max(0, ...scored.map(({ score }) => score))
  const ranked = scored
    .filter(({ score }) => score >= best * NEAR_BEST)
    .sort((a, b) => b.score - a.score || b.index - a.index)
    .slice(0, MAX_LOOKED_AT)
    .flatMap(({ statement }) => (statement.isSaid ? (toStatement(statement) ?? []) : statement))
  // One has one name and one home: only the newest holds.
  return withoutCorrected(distinct(ranked)).slice(0, isOwn ? 1 : MAX_ANSWERS)
}

/** "I'm Tom" says a name without the word. */
const SAYS_NAME = /^(?:(?:hi|hello),? )?(?:[Ii]['’]?m|[Ii] am|[Cc]all me) \p{Lu}\p{L}+(?: \p{Lu}\p{L}+)?\.?$/u

/** Says that what was said of the same before does not hold any more. */
const OPENS_CORRECTION =
  /^(?:(?:actually|no|nope|sorry|wait|correction|update|oops|in fact|as of (?:today|now)|from now on|i meant(?: that)?)\b[\s,.:;!–-]*)+/i
const CLOSES_CORRECTION = /\b(?:now|instead|from now on|these days|any ?more)[\s.!]*$/i
const IS = /\b(?:is|are|was|were|isn't|aren't|am|'s)\b/i

/** Of what is known of one thing, newest first, nothing from before the owner put it right. */
function withoutCorrected(newestFirst: readonly Known[]): Known[] {
  const corrected = new Set<string>()
  return newestFirst.filter(({ text, corrects = false }) => {
    const opening = OPENS_CORRECTION.exec(text)?.[0].length ?? 0
    const thing = thingOf(text.slice(opening))
    if (thing !== null && corrected.has(thing)) return false
    if (thing !== null && (corrects || opening > 0 || CLOSES_CORRECTION.test(text))) corrected.add(thing)
    return true
  })
}

/** What a statement says something of: "My dentist" of "My dentist is …". */
function thingOf(statement: string): string | null {
  const at = IS.exec(statement)?.index ?? 0
  const words = wordsOf(statement.slice(0, at))
  return words.length === 0 ? null : words.join(' ')
}

/** "Where do I live?", "what is my name?": nothing is asked but of the owner. */
function isOfOwner(question: string, keys: readonly string[], aspects: readonly string[]): boolean {
  return aspects.length === 0 && keys.every(isAspect) && /\b(?:i|i'm|my|we|our)\b/i.test(question)
}

/** "My sister lives in Rome" says nothing of where the owner does. */
export function isOfAnother(statement: string, keys: readonly string[]): boolean {
  if (/\b(?:i|i'm|i've|we|we're|we've)\b/i.test(statement.replaceAll('’', "'"))) return false
  const senses = new Set(keys.map(senseOf))
  const whose = /\b(?:my|our)\s+([\p{L}-]+)/iu.exec(statement)?.[1]
  return whose !== undefined && !senses.has(senseOf(whose.toLowerCase()))
}

/** What a name, an age or a place is asked for in: a statement without it is beside the question. */
const TOLD_OTHERWISE = /^(?:name|thing|things|kind|type|day|date|time|again|currently|old|age|prefer|number)$/

/** Whether none of the answers says what is asked for of the thing: its birthday, its address. */
export function isBeside(question: string, answers: readonly Known[]): boolean {
  const { aspects } = queryWords(question)
  const wanted = aspects.map(senseOf).filter((sense) => !TOLD_OTHERWISE.test(sense))
  if (wanted.length === 0) return false
  return answers.every(({ text }) => {
    const senses = new Set(wordsOf(text).map(senseOf))
    return wanted.every((sense) => !senses.has(sense))
  })
}

function distinct(statements: readonly Known[]): Known[] {
  const keys = statements.map(({ text }) => wordsOf(text).join(' '))
  return statements.filter((_statement, index) => keys.indexOf(keys[index] ?? '') === index)
}
