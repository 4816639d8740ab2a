import { STOP_WORDS } from '../../../projections/stop-words.ts'
import { isPersonal } from './text.ts'
import { isAspect, queryWords, senseOf, wordsOf } from './words.ts'

/** A memory, or an earlier statement of the owner. */
export type Fact = { readonly text: string; readonly at: string | null }

const MAX_ANSWERS = 3
/** Lowest score of an answer, relative to the best one. */
const NEAR_BEST = 0.8
const KEY_WEIGHT = 2

/**
 * The facts that contain more than half of the key words of a question, by stem, or half of them if one is a
 * name: "When is Ines coming?". Best first, then in the given order. A fact that shares only an aspect ("name")
 * does not count.
 */
export function findAnswers<F extends Fact>(question: string, facts: readonly F[]): F[] {
  const { keys, aspects } = queryWords(question)
  const keyStems = [...new Set(keys.map(senseOf))]
  const aspectStems = aspects.map(senseOf)
  if (keyStems.length === 0) return []
  const isOwn = isOfOwner(question)
  const asked = namesIn(question)
  const scored = facts.flatMap((fact) => {
    const [stems, words] = [sensesIn(fact.text), new Set(wordsOf(fact.text))]
    if (isOwn && isOfAnother(fact.text, keys)) return []
    if (isPersonal(question) && isOfNamed(fact.text, question)) return []
    const keyHits = keyStems.filter((each) => stems.has(each)).length
    const names = namesIn(fact.text).union(asked)
    const isNamed = keys.some((key) => names.has(key) && words.has(key))
    if (isNamed ? keyHits * 2 < keyStems.length : keyHits * 2 <= keyStems.length) return []
    const aspectHits = aspectStems.filter((each) => stems.has(each)).length
    return [{ fact, score: keyHits * KEY_WEIGHT + aspectHits }]
  })
  const personal = scored.filter(({ fact }) => isPersonal(fact.text))
  const meant = isOwn && personal.length > 0 ? personal : scored
  const best = Math.max(0, ...meant.map(({ score }) => score))
  const ranked = meant
    .filter(({ score }) => score >= best * NEAR_BEST)
    .sort((a, b) => b.score - a.score)
    .map(({ fact }) => fact)
  // People have one name and one home: only the newest counts.
  return distinct(ranked).slice(0, isOwn ? 1 : MAX_ANSWERS)
}

/** Capitalised words within a sentence, in lower case. */
function namesIn(text: string): Set<string> {
  return new Set(wordsOf([...text.matchAll(/(?<=[^.!?:]\s)\p{Lu}\p{L}+/gu)].join(' ')))
}

/** "I'm Tom" gives a name without the word "name". */
const SAYS_NAME =
  /^(?:(?:hi|hello),? )?(?:[Ii]['’]?m|[Ii] am|[Cc]all me) \p{Lu}\p{L}+(?: \p{Lu}\p{L}+)?(?:[.,]|$)/u

/** Whether a question is about the owner: "Where do I live?", "what is my name?". */
export function isOfOwner(question: string): boolean {
  const { keys, aspects } = queryWords(question)
  return aspects.length === 0 && keys.every(isAspect) && /\b(?:i|i'm|my|we|our)\b/i.test(question)
}

/** Whether a fact is about somebody else: "My sister lives in Rome". */
export function isOfAnother(text: string, keys: readonly string[]): boolean {
  if (/\b(?:i|i'm|i've|we|we're|we've)\b/i.test(text.replaceAll('’', "'"))) return false
  const senses = new Set(keys.map(senseOf))
  const whose = /\b(?:my|our)\s+([\p{L}-]+)/iu.exec(text)?.[1]
  return whose !== undefined && !senses.has(senseOf(whose.toLowerCase()))
}

/** Whether a fact is about somebody with a name that the question lacks: "Ben's birthday is on 7 June", "Ben lives in Leeds". */
function isOfNamed(text: string, question: string): boolean {
  const name = /^\p{Lu}\p{L}+(?=['’]s | \p{Ll}+s (?:in|at|for|with) )/u.exec(text)?.[0].toLowerCase()
  return (
    name !== undefined && !isPersonal(text) && !STOP_WORDS.has(name) && !sensesIn(question).has(senseOf(name))
  )
}

/** Aspects that a fact can answer without naming them. */
const IMPLICIT_ASPECTS =
  /^(?:name|thing|things|kind|type|day|date|time|again|currently|old|age|prefer|number)$/

/** Whether no answer mentions the aspect asked for (a birthday, an address), or more than a name. */
export function isOffTopic(question: string, answers: readonly Fact[]): boolean {
  const { keys, aspects } = queryWords(question)
  const wanted = aspects.map(senseOf).filter((sense) => !IMPLICIT_ASPECTS.test(sense))
  return answers.every(({ text }) => {
    const senses = sensesIn(text)
    const hits = keys.filter((key) => senses.has(senseOf(key))).length
    return hits * 2 <= keys.length || (wanted.length > 0 && wanted.every((sense) => !senses.has(sense)))
  })
}

/** The words of a text in the form for comparison. */
function sensesIn(text: string): Set<string> {
  const senses = new Set(wordsOf(text).map(senseOf))
  if (SAYS_NAME.test(text)) senses.add('name')
  return senses
}

function distinct<F extends Fact>(facts: readonly F[]): F[] {
  const keys = facts.map(({ text }) => wordsOf(text).join(' '))
  return facts.filter((_fact, index) => keys.indexOf(keys[index] ?? '') === index)
}
