import { normalizeText } from '../../../../projections/normalize-text.ts'
import { lexiconOf, occurrences } from '../../../text/lexicon.ts'
import { clausesOf, foldText, languageOf, type Span, sentencesOf } from '../../../text/text.ts'
import type { Candidate } from '../candidate.ts'
import type { Quotable } from '../evidence.ts'
import { habitRules } from './english-habits.ts'
import { possessionRules } from './english-possessions.ts'
import { selfRules } from './english-self.ts'
import { rulesOf } from './other-languages.ts'
import { planIn } from './plans.ts'
import type { Rule } from './rule.ts'

/** A part of an utterance that may be a statement. */
type Statement = {
  /** As in the source. */
  readonly quote: string
  /** With the subject that it shares with the previous statement. */
  readonly text: string
}

const MAX_CHARS = 8000
const ENGLISH: readonly Rule[] = [...selfRules, ...possessionRules, ...habitRules]

/**
 * Extracts plain statements, mostly English, if there is no model. Skips anything unclear. The gates handle
 * questions, jokes and the like, as they do for a model's candidates.
 */
export function extractByRules(quotable: Quotable, timezone: string): Candidate[] {
  const source = normalizeText(quotable.text, 'NFC').slice(0, MAX_CHARS).toWellFormed()
  const sentences = sentencesOf(source)
  if (quotable.agreed) return sentences.flatMap((sentence) => readAgreed(sentence.text))
  // The content of a note or task extends to the end.
  const content = sentences.findIndex(({ text }) => NOTE_OR_TASK.test(text))
  const stated = content < 0 ? sentences : sentences.slice(0, content)
  return stated.flatMap((sentence) => {
    const opened = withoutOpening(sentence)
    const language = languageOf(opened.span.text) ?? 'en'
    const rules = language === 'en' ? ENGLISH : (rulesOf[language] ?? [])
    const found = statementsOf(opened.span).flatMap((statement) => {
      const candidate = read(statement, rules, {
        at: quotable.utterance.at,
        timezone,
        isEnglish: language === 'en',
      })
      return candidate ? [candidate] : []
    })
    if (found.length > 0 || !opened.isRequest) return found
    const text = tidy(opened.span.text)
    // "Remember to call her" is a task, not a fact.
    if (/^to\s/iu.test(text)) return []
    return text.split(/\s+/).length >= 2 || /[^\p{ASCII}]{4}/u.test(text) ? [plain(text, text)] : []
  })
}

/**
 * Introduces the content of a note or a task for the coding assistant, which states nothing itself. "Note
 * that …" and "take note that …" ask to remember something.
 */
const NOTE_OR_TASK =
  /^(?:(?:please|pls|kindly|now|ok|okay|hey|hi|so|and|also|then|just|delegate)[\s,]+|(?:can|could|would|will) you |i(?:'d like| want| need) you to )*(?:(?:(?:make|take|create|write|add|start|save|draft|leave) (?:me )?(?:(?:a|an|another|the) )?|(?:a )?)(?:(?:new|quick|short) )*note(?! that\b)\b(?=\s*[:–-]| (?:called|titled|named|entitled|saying|about|down\b|to (?:self|myself)\b|with|of|on|to|for)\b)|(?:make|take|create|write|add|save|draft|leave) (?:me )?an? (?:(?:new|quick|short) )*note that\b|(?:jot|write|put|take|note) (?:(?:this|that|it|the following) )?down\b|(?:make|create|write|start|save) (?:me )?(?:a|an|my|the) (?:[\p{L}'’-]+ ){0,5}list\b|(?:add|append|put|include) [^\n]{1,500} (?:to|on|onto|in|into) (?:the|my|our) (?:[\p{L}'’-]+ ){0,5}(?:note|list)\b|(?:have|ask|tell|get|let|make|use) (?:(?:the|my|our) )?(?:coding (?:assistant|agent)|(?:github )?copilot)\b)/iu

function read(
  statement: Statement,
  rules: readonly Rule[],
  options: { at: string; timezone: string; isEnglish: boolean },
): Candidate | null {
  const text = tidy(statement.text)
  const plan = options.isEnglish ? planIn(foldQuotes(text), options) : null
  if (plan) return { ...plain(text, tidy(statement.quote)), ...plan }
  for (const { pattern, read } of rules) {
    const match = pattern.exec(foldQuotes(text))
    const found = match && read(match.groups ?? {})
    if (found)
      return {
        ...plain(text, tidy(statement.quote)),
        ...found,
        subject: found.subject ?? 'owner',
        singleValued: found.singleValued ?? false,
      }
  }
  return null
}

function plain(text: string, quote: string): Candidate {
  return {
    kind: 'episode',
    subject: 'owner',
    slot: '',
    value: '',
    text,
    quote,
    singleValued: false,
    eventTime: null,
    validUntil: null,
    relations: [],
  }
}

function foldQuotes(text: string): string {
  return text
    .replace(/[‘’ʼ`´]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replace(/\s+/g, ' ')
}

function tidy(text: string): string {
  return text.replace(/^[\s,;:，、；：–—-]+|(?<![\s,;:.!…，、；：。！–—-])[\s,;:.!…，、；：。！–—-]+$/gu, '')
}

const INTERJECTION =
  /^(?:actually|well|so|oh|ok|okay|hey|hi|hello|no|nope|yes|yeah|yep|wait|sorry|and|but|also|plus|btw|by the way|for the record|fyi|just so you know|in case you wonder|correction|update|anyway|to be clear|honestly|look|listen|see|fun fact|note to self|as of (?:today|now)|from now on|these days|nowadays|now|i mean|i meant(?: that)?|i think|i guess you should know(?: that)?|you should know(?: that)?|did i mention(?: that)?|i told you(?: that)?|i said(?: that)?|delegate|also gut|übrigens|eigentlich|nein|ja|alors|en fait|au fait|non|oui|en realidad|por cierto|no|sí|in realtà|comunque|na verdade|aliás|eigenlijk|trouwens|egentligen|właściwie|кстати|вообще-то|нет|да|其实|其實|对了|實は|実は|あの|사실|그런데)(?=[\s,.!:;–—-])[\s,.!:;–—-]*/iu
const LINKING =
  /^[\s,:;–—-]*(?:that|this|dass|daß|que|qu'|che|dat|att|że|что|що|ότι|أن|ש|कि)?(?=[\s,:;–—'-])[\s,:;–—-]*/iu
const REQUEST_POLITE =
  /^(?:please|pls|kindly|can you|could you|would you|will you|you should|bitte|s'il te plaît|por favor|per favore|пожалуйста|请|請)[\s,]+/iu

/** The sentence without its introduction, and whether that asks to remember the rest. */
function withoutOpening(sentence: Span): { readonly span: Span; readonly isRequest: boolean } {
  let start = 0
  let isRequest = false
  for (let round = 0; round < 6; round += 1) {
    const rest = sentence.text.slice(start)
    const polite = REQUEST_POLITE.exec(rest)?.[0].length ?? 0
    const asked = requestLength(rest.slice(polite))
    const opening = asked > 0 ? polite + asked : (INTERJECTION.exec(rest)?.[0].length ?? 0)
    if (opening === 0 || opening >= rest.length) break
    isRequest ||= asked > 0
    start += opening
  }
  const text = sentence.text.slice(start)
  return { span: { start: sentence.start + start, end: sentence.end, text }, isRequest }
}

/** Length of an introduction that asks to remember the rest; 0 if there is none. */
function requestLength(text: string): number {
  const folded = foldText(text)
  const lexicon = lexiconOf(languageOf(text) ?? 'en')
  const [request] = occurrences(lexicon.remembering, folded)
  // Offsets do not match if folding changed the length.
  if (request?.at !== 0 || folded.length !== text.length) return 0
  const after = request.words.length
  return after + (LINKING.exec(text.slice(after))?.[0].length ?? 0)
}

const STARTS =
  /^(?:i|i'm|i've|i'll|i'd|im|ive|my|our|we|we're|we've|he|she|they|it|it's|there|this|that|the|you|your|please|can|could|would|what|who|where|when|why|how|if|because|although|though|while|so|call|which)\b/i
const SHARES_I =
  /^(?:am|work|live|love|like|enjoy|adore|prefer|hate|dislike|play|speak|drive|study|have|own|don't|do not|can't|cannot|never|always|usually|was born|moved|no longer|stopped|quit)\b/i
const CONJUNCTION =
  /^(?:and|but|so|or|because|although|though|while|und|aber|et|mais|y|pero|e|mas|maar|och|ale|и|а|но|та|і) (?:also |then |auch |aussi |también |anche |também )?/iu

/** The clauses of a sentence, rejoined where a clause continues with a list. */
function statementsOf(span: Span): Statement[] {
  const statements: { start: number; end: number; prefix: string }[] = []
  for (const clause of clausesOf(span)) {
    const conjunction = CONJUNCTION.exec(clause.text)?.[0].length ?? 0
    const bare = foldQuotes(clause.text.slice(conjunction))
    const last = statements.at(-1)
    const lastText = last
      ? foldQuotes(last.prefix + span.text.slice(last.start - span.start, last.end - span.start))
      : ''
    if (last && SHARES_I.test(bare) && /^(?:i|i'm|i've|we)\b/i.test(lastText)) {
      statements.push({ start: clause.start + conjunction, end: clause.end, prefix: 'I ' })
    } else if (
      last &&
      !STARTS.test(bare) &&
      !/^not\b/i.test(bare) &&
      bare.split(' ').length <= 5 &&
      isEnglishLike(bare)
    ) {
      last.end = clause.end
    } else {
      statements.push({ start: clause.start + conjunction, end: clause.end, prefix: '' })
    }
  }
  return statements.map(({ start, end, prefix }) => {
    const quote = span.text.slice(start - span.start, end - span.start)
    return { quote, text: `${prefix}${quote}` }
  })
}

function isEnglishLike(text: string): boolean {
  const language = languageOf(text)
  return language === null || language === 'en'
}

const OFFER =
  /^(?:so[, ]+|ok[, ]+|okay[, ]+|just to (?:be sure|confirm)[:, ]+)*(?:(?:should|shall|may|can) i (?:remember|note|save|keep in mind|write down)(?: that)? |do you want me to (?:remember|note|save)(?: that)? |did you mean(?: that)? |do you mean(?: that)? |you mean(?: that)? |i understand(?: that)? |is it (?:right|correct|true) that )?/i
const TAG =
  /(?<![,;\s?.!])[,;\s]*(?:(?:right|correct|is that (?:right|correct)|isn't it|don't you|aren't you|yes|ok|okay)\s*)?[?.!]*$/i

/** A delegate's sentence that the owner agreed to, in the owner's person. */
function readAgreed(sentence: string): Candidate[] {
  const bare = foldQuotes(sentence).replace(OFFER, '').replace(TAG, '')
  const asked =
    /^(?:[Ii]s|[Aa]re) your (?<thing>.{2,40}?) (?<rest>(?:called |named |on |in |at )?[\p{Lu}\d"].*)$/u.exec(
      bare,
    )?.groups
  const statement = asked
    ? `my ${asked.thing} is ${asked.rest}`
    : inFirstPerson(bare.replace(/^do you (?:still )?/i, 'you '))
  for (const { pattern, read } of ENGLISH) {
    const match = pattern.exec(statement)
    const found = match && read(match.groups ?? {})
    if (found)
      return [
        {
          ...plain(statement, tidy(sentence).replace(/(?<![?])[?]+$/, '')),
          ...found,
          subject: found.subject ?? 'owner',
          singleValued: found.singleValued ?? false,
        },
      ]
  }
  return []
}

function inFirstPerson(text: string): string {
  return text
    .replace(/\byou're\b/gi, "I'm")
    .replace(/\byou are\b/gi, 'I am')
    .replace(/\byou've\b/gi, "I've")
    .replace(/\byours\b/gi, 'mine')
    .replace(/\byour\b/gi, 'my')
    .replace(/\byou\b/gi, 'I')
}
