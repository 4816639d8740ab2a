import { isAspect, queryWords, senseOf, wordsOf } from './words.ts'

/** A memory or an earlier sentence of the owner. */
export type Known = {
  readonly text: string
  readonly at: string | null
  /** The original words of the owner, which may be a request rather than a statement. */
  readonly isSaid?: boolean
  /** It replaces earlier statements about the same thing. */
  readonly corrects?: boolean
}

const MAX_ANSWERS = 3
const MAX_LOOKED_AT = 20
/** Lowest score of an answer, relative to the best one. */
const NEAR_BEST = 0.8
const KEY_WEIGHT = 2

/**
 * The statements that contain more than half of the key words of a question, by stem. Best first, then newest
 * first. A statement that shares only an aspect ("name") does not count. `toStatement` extracts the statement
 * from the words of the owner.
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
  // People have one name and one home: only the newest counts.
  return withoutCorrected(distinct(ranked)).slice(0, isOwn ? 1 : MAX_ANSWERS)
}

/** "I'm Tom" gives a name without the word "name". */
const SAYS_NAME = /^(?:(?:hi|hello),? )?(?:[Ii]['’]?m|[Ii] am|[Cc]all me) \p{Lu}\p{L}+(?: \p{Lu}\p{L}+)?\.?$/u

/** Marks a correction of an earlier statement. */
const OPENS_CORRECTION =
  /^(?:(?:actually|no|nope|sorry|wait|correction|update|oops|in fact|as of (?:today|now)|from now on|i meant(?: that)?)\b[\s,.:;!–-]*)+/i
const CLOSES_CORRECTION = /\b(?:now|instead|from now on|these days|any ?more)[\s.!]*$/i
const IS = /\b(?:is|are|was|were|isn't|aren't|am|'s)\b/i

/** Drops statements about a thing that are older than a correction. */
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

/** The thing that a statement is about: "My dentist" in "My dentist is …". */
function thingOf(statement: string): string | null {
  const at = IS.exec(statement)?.index ?? 0
  const words = wordsOf(statement.slice(0, at))
  return words.length === 0 ? null : words.join(' ')
}

/** Whether a question is about the owner: "Where do I live?", "what is my name?". */
function isOfOwner(question: string, keys: readonly string[], aspects: readonly string[]): boolean {
  return aspects.length === 0 && keys.every(isAspect) && /\b(?:i|i'm|my|we|our)\b/i.test(question)
}

/** Whether a statement is about somebody else: "My sister lives in Rome". */
export function isOfAnother(statement: string, keys: readonly string[]): boolean {
  if (/\b(?:i|i'm|i've|we|we're|we've)\b/i.test(statement.replaceAll('’', "'"))) return false
  const senses = new Set(keys.map(senseOf))
  const whose = /\b(?:my|our)\s+([\p{L}-]+)/iu.exec(statement)?.[1]
  return whose !== undefined && !senses.has(senseOf(whose.toLowerCase()))
}

/** Aspects that a statement can answer without naming them. */
const IMPLICIT_ASPECTS =
  /^(?:name|thing|things|kind|type|day|date|time|again|currently|old|age|prefer|number)$/

/** Whether no answer mentions the aspect asked for: a birthday, an address. */
export function isOffTopic(question: string, answers: readonly Known[]): boolean {
  const { aspects } = queryWords(question)
  const wanted = aspects.map(senseOf).filter((sense) => !IMPLICIT_ASPECTS.test(sense))
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
