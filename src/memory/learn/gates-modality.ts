import { stemOf } from '../../../projections/recall-text.ts'
import { type Lexicon, occurrences, occurs } from '../../text/lexicon.ts'
import { writtenNumbers } from '../../text/numbers.ts'
import { clausesOf, foldText, type Span } from '../../text/text.ts'
import type { Candidate } from './candidate.ts'
import { clausesWith, type Evidence, joined, lexiconOfText, ownClauses } from './evidence.ts'

/** Gates over modality: question, hypothetical, negation, joke, tense. Each is pure. */

const ASKS = /[?？؟⸮](?:["'”’»)\]」』]*)$/u
const GREEK_ASKS = /;$/u
const PARTICLE: { readonly [code: string]: RegExp } = {
  ja: /(?:か|かな|かしら)[。.]?$/u,
  zh: /[吗嗎么麼][。.]?$/u,
  ko: /(?:까|나요|니|가요)[.]?$/u,
  th: /(?:ไหม|มั้ย|หรือเปล่า|หรือยัง)[.]?$/u,
}
/** An English question without a question mark. */
const INVERTED =
  /^(?:(?:so|and|but|hey|ok|okay|well)[ ,]+)?(?:(?:who|what|when|where|which|why|how|whose)(?:'s|'re| is| are| was| were| do| does| did| can| could| will| would| should| have| has| much| many)\b|(?:is|are|am|was|were|do|does|did|can|could|will|would|should|have|has|isn't|aren't|don't|doesn't|didn't) (?:i|you|he|she|it|we|they|my|your|his|her|our|their|the|this|that|there)\b)/

/** The quote is a question. The clauses before the asking one are statements: "I'm vegan, what can I eat?" */
export function askedNotSaid(evidence: Evidence): boolean {
  const { lexicon, quote } = evidence
  if (evidence.quotable.agreed) return false
  return evidence.sentences.some((sentence) => {
    const asks =
      ASKS.test(sentence.text) ||
      (lexicon.code === 'el' && GREEK_ASKS.test(sentence.text)) ||
      PARTICLE[lexicon.code]?.test(sentence.text) === true
    if (!asks)
      return lexicon.code === 'en' && (INVERTED.test(sentence.text) || evidence.clauses.some(invertsSelf))
    const clauses = clausesOf(sentence)
    const asking = clauses.findIndex((clause) => opensQuestion(clause.text, lexicon))
    const from = clauses[asking]?.start ?? sentence.start
    return asking <= 0 || quote.end > from
  })
}

const INVERTED_SELF =
  /^(?:am|are|is|was|were|do|does|did|have|has|can|could|will|would|should) (?:i|we|my|our)\b/

/** A clause in which the owner asks about themselves, anywhere in the sentence: "Remind me, am I …" */
function invertsSelf({ text }: Span): boolean {
  return INVERTED_SELF.test(text)
}

function opensQuestion(clause: string, { asking }: Lexicon): boolean {
  const at = clause.replace(/^(?:and|but|so|und|aber|also|y|e|et|mais|pero|и|а|но) /u, '').search(asking)
  return at === 0
}

/** A wish is kept as a wish, not rejected as hypothetical. */
const WISH =
  "(?:would|'d) (?:really |still |also )?(?:like|love|prefer|rather|appreciate)|(?:würde|hätte|wäre) gerne?|gerne? (?:hätte|würde)|j'aimerais|je voudrais|me gustaría|quisiera|vorrei|mi piacerebbe|gostaria|zou graag|хотел(?:[аио]|ось)? бы"

const WISHES = new RegExp(WISH, 'u')

/** Phrases that contain a condition but still assert something. */
const HARMLESS = new RegExp(
  [
    `${WISH}`,
    '(?:could|would|can) you',
    "if (?:you|i can|we can|possible|necessary|needed|needs be|i remember|i recall|i'm not mistaken|that helps|it helps|anyone|anybody|someone asks)",
    'if i (?:had to|have to|must|may) (?:name|pick|choose|say|guess|decide|answer)|if you (?:ask me|must know)|if memory serves',
    '(?:you|i) (?:should|ought to|must|could|might|may) (?:(?:also|really) )?(?:know|mention|say|add|tell you|note|point out|remember)',
    'even if|as if|whether or not|no matter (?:if|whether)',
    'wenn (?:du|sie|möglich|ihr)|falls (?:du|nötig|möglich)',
    "si (?:tu|vous|possible|nécessaire)|s'il (?:te|vous) plaît",
    'si (?:puedes|quieres|es posible|no te importa)',
    'se (?:puoi|vuoi|possibile|puder|quiser|possível)',
    'als (?:je|u|mogelijk)',
    'если (?:можно|можешь|хочешь|что)|якщо (?:можна|можеш)',
  ].join('|'),
  'gu',
)

function withoutHarmless(text: string): string {
  return text.replace(HARMLESS, ' ')
}

/** Hypothetical: a wish, a dream, a game, or a consequence of an unreal condition. */
export function onlyImagined(candidate: Candidate, evidence: Evidence): boolean {
  if (evidence.quotable.agreed) return false
  const { lexicon } = evidence
  const own = lexiconOfText(candidate.text, evidence)
  return evidence.sentences.some((sentence) => {
    const text = withoutHarmless(sentence.text)
    if (occurs(lexicon.imagined, text)) return true
    if (!occurs(lexicon.condition, text)) return false
    // A real condition may be kept if the candidate states it too.
    if (occurs(lexicon.uncertain, text) || occurs(lexicon.future, text)) return true
    const clauses = clausesWith(
      evidence.clauses.length > 0 ? evidence.clauses : clausesOf(sentence),
      candidate,
    )
    const isCondition = clauses.some((clause) => occurs(lexicon.condition, withoutHarmless(clause.text)))
    return (
      isCondition &&
      !occurs(own.condition, withoutHarmless(foldText(candidate.text))) &&
      !keepsWhen(candidate.text)
    )
  })
}

function keepsWhen(text: string): boolean {
  return /\b(?:when|whenever|in case|in the event|on days)\b/i.test(text)
}

const WANTING =
  /\b(?:want|wants|wish\w*|hop(?:e|es|ing)|prefer\w*|plan\w*|intend\w*|look\w* forward|will|would|might|could|may|maybe|perhaps|probably|possibly|consider\w*|think\w*|dream\w*|tempted|undecided|unsure|appointment|scheduled|booked|due|until|starting|upcoming|tomorrow|going|moving|leaving|arriv\w+|next)\b/i
const PAST_FORM = /\b(?:was|were|had|did|until|ago|former|formerly|ex|past|no longer|once|born)\b|\p{L}ed\b/iu

/** Said as uncertain, past or future, but kept as a present fact. */
export function losesModality(
  candidate: Candidate,
  evidence: Evidence,
): 'uncertain' | 'past' | 'future' | 'tense' | null {
  if (evidence.quotable.agreed) return null
  const { lexicon } = evidence
  const own = lexiconOfText(candidate.text, evidence)
  const clauses = clausesWith(evidence.clauses, candidate)
  const said = withoutHarmless(joined(clauses))
  const opening = joined(openingOf(clauses, evidence))
  const kept = foldText(candidate.text)
  const isEnglish = own.code === 'en'
  const keepsWish =
    occurs(own.uncertain, kept) || occurs(own.future, kept) || (isEnglish && WANTING.test(kept))
  const wishes = WISHES.test(joined(clauses))
  if ((wishes || occurs(lexicon.uncertain, `${opening} ${said}`)) && !keepsWish) return 'uncertain'
  if (occurs(lexicon.past, said) && !occurs(own.past, kept) && !(isEnglish && PAST_FORM.test(kept)))
    return 'past'
  if (occurs(lexicon.future, said) && !keepsWish && !hasTime(candidate)) return 'future'
  if (lexicon.code !== 'en' || !isEnglish) return null
  if (NEARLY.test(said) && !/\b(?:almost|nearly)\b/.test(kept)) return 'uncertain'
  if (CEASED.test(said) && !CEASED.test(kept) && !NOT_ANY_MORE.test(kept)) return 'past'
  return presentOfPast(said, kept) || (wasForSomeTime(said) && !IS_NOW.test(said) && IS.test(kept))
    ? 'tense'
    : null
}

/** A former state. Excludes events with a lasting effect: "I was born", "I was diagnosed". */
const WAS =
  /\b(?:i was|we were|i've been|i had been) (?!born|diagnosed|raised|named|given|told|promoted|hired|made|elected|trained|brought|allergic|always|\p{L}+ing\b)/u
const LASTED = / (?:for|until|till|once|in|when|as|during|before)\b/u

function wasForSomeTime(text: string): boolean {
  const at = text.search(WAS)
  return at >= 0 && LASTED.test(text.slice(at))
}

const IS_NOW = /\b(?:am|i'm|is|are|we're|since|still|now|always|been)\b/u
const IS = /\b(?:is|are|am)\b/u
/** Something that almost happened. */
const NEARLY =
  /\b(?:almost|nearly) (?!always|never|every|all|anything|nothing|\d)(?:\p{L}+ed|went|bought|got|had|became|took|left|ran|lost|won|gave|made|told|sold|fell|died|quit)\b/u
/** Something that ended. */
const CEASED =
  /\b(?:gave|given|giving) up\b|\b(?:quit|quitting|stopped|ceased|sold|retired from|sworn off|swore off|got rid of|broke up with|split up with|divorced)\b/u
const NOT_ANY_MORE =
  /\b(?:no longer|not|never|former|formerly|ex|used to|without|until|free|single|past|non)\b|n't\b|-free\b/u

const OPENING_CLAUSE_WORDS = 3

/** A short opening clause that applies to the whole sentence: "Maybe, I don't know yet, I move". */
function openingOf(clauses: readonly Span[], { sentences }: Evidence): Span[] {
  return sentences.flatMap((sentence) => {
    const [first, second] = clausesOf(sentence)
    const isOpening = first && second && first.text.split(' ').length <= OPENING_CLAUSE_WORDS
    const goesFor = clauses.some(({ start }) => start > sentence.start && start < sentence.end)
    return isOpening && goesFor && !clauses.some(({ start }) => start === first.start) ? [first] : []
  })
}

function hasTime({ kind, eventTime, text }: Candidate): boolean {
  return kind === 'plan' || eventTime !== null || writtenNumbers(text).length > 0
}

/** Verbs of a state, which may be over if said in the past. */
const STATES =
  'live|work|study|own|play|love|like|hate|enjoy|want|need|prefer|smoke|use|rent|share|practise|practice|attend|collect|volunteer|train'.split(
    '|',
  )
const IRREGULAR: Readonly<Record<string, string>> = {
  have: 'had',
  drive: 'drove',
  teach: 'taught',
  run: 'ran',
  speak: 'spoke',
  eat: 'ate',
  drink: 'drank',
  keep: 'kept',
  own: 'owned',
}

/** Whether the quote is only in the past and the kept text only in the present: "I worked", "works". */
function presentOfPast(said: string, kept: string): boolean {
  const saidWords = new Set(said.match(/[a-z']+/g) ?? [])
  const keptWords = new Set(kept.match(/[a-z']+/g) ?? [])
  const hasAny = (words: ReadonlySet<string>, forms: readonly string[]) =>
    forms.some((form) => words.has(form))
  return [...STATES, ...Object.keys(IRREGULAR)].some((verb) => {
    const base = verb.replace(/e$/, '')
    const present = [
      verb,
      `${verb}s`,
      `${base}ies`.replace(/yies$/, 'ies'),
      `${base}ing`,
      ...(verb === 'have' ? ['has', "i've"] : []),
    ]
    const past = [`${base}ed`, `${base.replace(/y$/, 'i')}ed`, IRREGULAR[verb] ?? `${base}ed`]
    return (
      hasAny(saidWords, past) &&
      !hasAny(saidWords, present) &&
      hasAny(keptWords, present) &&
      !hasAny(keptWords, past)
    )
  })
}

/** Phrases that contain a negation but negate nothing. */
const DENIES_NOTHING =
  /\b(?:not only|no doubt|no problem|no wonder|no worries|why not|not to mention|nothing but|(?:can't|cannot|can not) wait|couldn't be happier|couldn't agree more|never mind|nicht nur|kein problem|keine sorge|pas seulement|pas de problème|no solo|no sólo|sin duda|ningún problema|non solo|nessun problema|não só|sem dúvida|niet alleen|geen probleem|inte bara)\b|не только|без проблем|конечно|不错|不錯|不过|不過|不但|不仅|不僅|差不多|じゃないですか|뿐만 아니라/gu

/** Number of negations. "Don't forget that …" has none. */
function denials(text: string, { not, remembering }: Lexicon): number {
  return occurrences(not, text.replace(remembering, ' ').replace(DENIES_NOTHING, ' ')).length
}

/** Whether `text` has a negative word ("hates") that `other` lacks, which can replace a "not". */
function hasAversionBeyond(text: string, lexicon: Lexicon, other: string): boolean {
  const known = new Set((other.match(/[\p{L}\p{M}]+/gu) ?? []).map(stemOf))
  return occurrences(lexicon.averse, text).some(
    ({ words }) => !words.split(/\s+/).some((word) => known.has(stemOf(word))),
  )
}

/** Negated in only one of quote and candidate. Compares only the clauses that state the value. */
export function deniedOtherwise(candidate: Candidate, evidence: Evidence): boolean {
  const own = lexiconOfText(candidate.text, evidence)
  const said = joined(clausesWith(evidence.clauses, candidate))
  const kept = joined(ownClauses(candidate))
  const saidDenies = denials(said, evidence.lexicon) > 0
  const keptDenies = denials(kept, own) > 0
  if (saidDenies === keptDenies) return false
  return saidDenies ? !hasAversionBeyond(kept, own, said) : !hasAversionBeyond(said, evidence.lexicon, kept)
}

/** Whether a statement negates something. */
export function isDenial(candidate: Pick<Candidate, 'text' | 'value'>, lexicon: Lexicon): boolean {
  return denials(joined(ownClauses(candidate)), lexicon) > 0
}

/** Whether a statement has a word that is negative by meaning: hating is not liking. */
export function isAverse(candidate: Pick<Candidate, 'text' | 'value'>, lexicon: Lexicon): boolean {
  return occurs(lexicon.averse, joined(ownClauses(candidate)))
}

const IN_EARNEST =
  /\b(?:no kidding|not kidding|not joking|i kid you not|no joke|not a joke|kein scherz|kein witz|ohne scherz|sans blague|je ne plaisante pas|no es broma|sin broma|non scherzo|não é brincadeira)\b|не шучу|без шуток|不是开玩笑|冗談ではなく|冗談じゃなく/gu
const LAUGHS =
  /(?<![\p{L}\p{N}])(?:l+o+l+z*|lmf?ao+|rofl|(?:ha){2,}h?|(?:he){2,}h?|(?:ja){2,}|(?:je){2,}|(?:rs){2,}|k{4,}|mdr+|ptdr|xd+|(?:ха){2,}х?|а?(?:ха){2,}|哈{2,}|呵{2,}|ㅋ{2,}|ㅎ{2,}|w{3,}|ه{3,}|ח{3,})(?![\p{L}\p{N}])|[😂🤣😜😝😛🤪😹😉]|[;:]-?p(?![\p{L}\p{N}])|;-?\)|\(笑\)/u

const EVERY_LAUGH = new RegExp(LAUGHS.source, 'gu')

/** Said in jest: marked as a joke, laughed at, or retracted in the same or the next message. */
export function inJest(evidence: Evidence): boolean {
  const { lexicon, quotable, following } = evidence
  const first = evidence.sentences[0]?.start ?? 0
  const since = evidence.text.slice(first).replace(IN_EARNEST, ' ')
  if (occurs(lexicon.joking, since)) return true
  const laughter =
    following && /^[^\p{L}\p{N}]*$/u.test(following.text.replace(EVERY_LAUGH, '')) ? following.text : ''
  if (lexicon.code === 'en' && isIrony(evidence)) return true
  if (LAUGHS.test(`${joined(evidence.sentences)} ${laughter}`)) return true
  return quotable.next !== null && takesBack(quotable.next, lexicon)
}

/** "I own a castle … not!"; "Sure, and I'm the Pope". */
function isIrony({ text, quote, sentences }: Evidence): boolean {
  return (
    /^[^\p{L}\p{N}]*(?:not|psych|as if|in my dreams|i wish)[ !.…]*(?:$|\n)/u.test(text.slice(quote.end)) ||
    sentences.some((sentence) =>
      /^(?:sure|yeah|right|oh sure|of course|yeah right|yeah sure)[, ]+and (?:i'm|i am|my)\b/u.test(
        sentence.text,
      ),
    )
  )
}

const OPENING_WORDS = 8

/** Whether a message begins by retracting the previous one as a joke. */
export function takesBack(text: string, lexicon: Lexicon): boolean {
  const opening = foldText(text).replace(IN_EARNEST, ' ').trim().split(' ').slice(0, OPENING_WORDS).join(' ')
  return occurs(lexicon.joking, opening)
}
