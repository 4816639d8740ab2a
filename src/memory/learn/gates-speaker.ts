import { type Lexicon, occurrences, occurs } from '../../text/lexicon.ts'
import { foldText, type Span, sentencesOf } from '../../text/text.ts'
import { contentWords, hasWord, indexWords, isOwnerWord, sharesPair } from '../../text/words.ts'
import type { Candidate } from './candidate.ts'
import { isOwner } from './canonical-key.ts'
import { clausesWith, type Evidence, joined, lexiconOfText } from './evidence.ts'
import { asksToRemember } from './foreign-text.ts'

/** Gates over who says something, and about whom. Each is pure. */

/** Verbs of belief, in any language. A belief may be wrong. */
const BELIEVES =
  /think|thought|believ|claim|assum|guess|reckon|insist|swear|swore|argu|rumo|alleg|suppos|apparent|glaub|denkt|dacht|meint|behaupt|vermut|angeblich|pense|pensa|croi|croy|cree|creí|prétend|opina|supuest|crede|sostien|acha|acredita|gelooft|tror|tycker|påstår|myśli|sądzi|uważa|twierdzi|podobno|sanıyor|iddia|дума|счита|полага|утвержд|якобы|вважа|стверджу|νομίζ|πιστεύ|ισχυρ|يعتقد|تعتقد|يظن|تظن|يزعم|تزعم|חושב|מאמין|טוען|सोचत|मानत|दावा|认为|認為|觉得|覺得|以为|以為|声称|聲稱|思って|信じ|主張|생각|믿|주장|คิดว่า|เชื่อว่า|อ้างว่า/u
/** First-person verbs for learning something from others. */
const FROM_OTHERS =
  /^(?:heard|read|reads|wrote|gehört|gelesen|entendu|lu que|oí|leí|sentito|letto|ouvi|li que|gehoord|gelezen|hört|läst|słyszał\p{L}*|czytał\p{L}*|duydum|okudum|слышал\p{L}*|читал\p{L}*|чув|чула|читав|читала|άκουσα|διάβασα|سمعت|قرأت|שמעתי|קראתי|सुना|पढ़ा|听说|聽說|据说|據說|ได้ยิน|อ่านว่า)$/u

/** Another person's claim kept as a fact about the owner, or what others believe about the owner. */
export function hearsay(candidate: Candidate, evidence: Evidence): boolean {
  if (evidence.quotable.agreed) return false
  const { lexicon } = evidence
  const own = lexiconOfText(candidate.text, evidence)
  const keepsReport = occurs(own.reporting, foldText(candidate.text))
  const kept = indexWords(candidate.text)
  return evidence.sentences.some((sentence) => {
    const value = clausesWith(evidence.clauses, candidate)[0]
    const until = Math.min(evidence.quote.end, value?.end ?? evidence.quote.end)
    const report = occurrences(lexicon.reporting, sentence.text).find(
      ({ at, words }) => sentence.start + at < until && !isOwnWord(sentence.text, at, words, lexicon),
    )
    if (!report) return false
    const claim = claimOf(sentence.text.slice(report.at + report.words.length))
    if (!isOwner(candidate.subject)) return false
    const reporters = contentWords(sentence.text.slice(0, report.at))
    if (keepsReport && reporters.some((word) => hasWord(kept, word))) return false
    if (report.words.endsWith(':') || /^[^\p{L}]*[":,]/u.test(claim)) return true
    return !occurs(lexicon.self, claim) || BELIEVES.test(report.words)
  })
}

/** The reported claim without its addressee: "told me that she moved". */
function claimOf(afterReport: string): string {
  return afterReport.replace(
    /^(?: to)? (?:me|us|mir|uns|me|nous|nos|mi|ci|mig|oss|mij|ons|мне|нам|мені)(?= )/u,
    '',
  )
}

/** Whether the owner is the one who says or believes it: "I said", "I think". */
function isOwnWord(sentence: string, at: number, verb: string, lexicon: Lexicon): boolean {
  if (FROM_OTHERS.test(verb)) return false
  const before =
    sentence
      .slice(0, at)
      .split(/[,;:.]/)
      .at(-1) ?? ''
  const i = occurrences(lexicon.i, before).at(-1)
  if (!i) return false
  const between = before.slice(i.at + i.words.length)
  return (
    !occurs(lexicon.people, between) &&
    !occurs(lexicon.others, between) &&
    between.trim().split(/\s+/).length <= 4
  )
}

/** Phrases that introduce an opinion: "I think that …". */
const OPINION =
  /^(?:(?:and|but|so|well|oh|also|by the way|btw|hey|und|aber|y|pero|et|mais|e|ma|mas|и|а|но)[ ,]+)*(?:(?:i (?:think|know|believe|guess|mean|hope|heard|wonder)|i'm (?:sure|afraid|glad|happy)|you know|did you know|ich (?:glaube|denke|weiß)|je (?:crois|pense|sais)|(?:creo|pienso|sé) que|(?:credo|penso|so) che|(?:acho|sei|creio) que|я (?:думаю|знаю|считаю))(?: that| dass| que)? )?/u
/** English words that can open a statement without being a name: pronouns and everyday things. */
const NOT_A_NAME = new Set(
  `today tomorrow yesterday tonight now here there it it's this that these those what everything nothing something all one which
  who where when there's that's my our the a an some no not just only please thanks yes okay ok home work breakfast lunch dinner
  coffee tea birthday rent email mail phone number address password wifi internet car job office school college university food
  music sport sports money time life sleep bed family weather summer winter spring autumn fall monday tuesday wednesday thursday
  friday saturday sunday january february march april june july august september october november december christmas easter
  nickname name age height weight size shoe blood hometown favourite favorite hobby hobbies pet pets bike train flight hotel
  appointment meeting gym yoga training class lesson medication insulin exercise cooking reading running swimming hiking`.split(
    /\s+/,
  ),
)
/** A possessor other than the owner: "Anna's car …". */
const POSSESSOR =
  /^(?:the |an? )?(?<name>(?!(?:my|our|it|that|this|there|here|what|who|he|she|let|how|where|when|today|tomorrow|yesterday|tonight|everything|nothing)\b)(?:[\p{L}.]+ ){0,2}?[\p{L}]+)'s (?!(?:a|an|the|not|in|on|at|my|our|been|got|going|no|so|very)\b)/u
const COPULA = /^(?:is|was|has|had|does|can|will|isn't|wasn't|won't)$/
const THIRD_PERSON = /^(?:is|was|has|had|does|can|will|isn't|wasn't|won't|[a-z]{2,}[^su']s)$/

/**
 * A statement about somebody else kept as about the owner, or a subject that the quote does not name. The
 * candidate must mention the person that a clause is about.
 */
export function wrongSubject(candidate: Candidate, evidence: Evidence): boolean {
  if (evidence.quotable.agreed) return false
  if (!isOwner(candidate.subject)) return !namesSubject(evidence, candidate.subject)
  const { lexicon } = evidence
  const kept = indexWords(candidate.text, candidate.slot, candidate.value)
  const isMentioned = (words: string) =>
    contentWords(words).some((word) => [word, ...kinWords(word)].some((each) => hasWord(kept, each))) &&
    sharesPair(kept, words)
  return clausesWith(evidence.clauses, candidate).some((clause) => {
    const text = withoutReport(wholeStatement(clause, evidence), lexicon).replace(OPINION, '')
    const antecedent = relativeOf(text)
    if (antecedent !== null) return !isMentioned(antecedent)
    const somebody = firstPerson(text, lexicon)
    if (somebody !== null && occurs(lexicon.others, somebody)) return true
    const name = somebody ?? namedSubject(text, lexicon) ?? namedPair(text, evidence)
    return name !== null && !isMentioned(name)
  })
}

/** Words for the same person. */
const KIN = [
  'mum mom mother mommy',
  'dad father daddy',
  'kid kids child children',
  'wife husband spouse partner',
  'neighbour neighbor',
  'colleague coworker co-worker',
  'grandma grandmother granny',
  'grandpa grandfather',
  'boss manager',
  'flatmate roommate housemate',
  'dog puppy',
  'cat kitten',
].map((kin) => kin.split(' '))

function kinWords(word: string): string[] {
  return KIN.find((kin) => kin.includes(word)) ?? []
}

/** A clause, with the start of its sentence if it lacks a subject: "Jo, my boss, lives in Ulm". */
function wholeStatement(clause: Span, { sentences, lexicon }: Evidence): string {
  const [first = '', second = ''] = clause.text.replace(/^(?:and|but|or) /u, '').split(' ')
  // "Olives are not my thing": before another verb, the word is a noun.
  const isVerb =
    THIRD_PERSON.test(first) && !/^(?:are|is|was|were|have|has|had|do|don't|can|will)$/.test(second)
  const needsSubject = lexicon.code === 'en' && (isVerb || /^(?:who|whose|which)$/.test(first))
  const sentence = sentences.find(({ start, end }) => start < clause.start && end >= clause.end)
  if (!needsSubject || !sentence) return clause.text
  return sentence.text.slice(0, clause.end - sentence.start).replace(/[,;:]/g, '')
}

/** The person that a relative clause describes: the word before "who". */
function relativeOf(text: string): string | null {
  const clause = text.slice(text.lastIndexOf(',') + 1)
  return /(?<![\p{L}\p{M}'-])([\p{L}\p{M}'-]+) (?:who|whose) /u.exec(clause)?.[1] ?? null
}

/** The claim alone, if somebody is reported to say it about the owner. The reporter is not its subject. */
function withoutReport(clause: string, lexicon: Lexicon): string {
  const report = occurrences(lexicon.reporting, clause).at(-1)
  if (!report) return clause
  const claim = claimOf(clause.slice(report.at + report.words.length)).trim()
  return occurs(lexicon.i, claim) || occurs(lexicon.self, claim)
    ? claim.replace(/^(?:that|dass|que|che|att|dat|что|що) /u, '')
    : clause
}

/** The first person that a clause mentions, or null if that is the owner. */
function firstPerson(clause: string, lexicon: Lexicon): string | null {
  const people = [...occurrences(lexicon.people, clause), ...occurrences(lexicon.others, clause)].sort(
    (a, b) => a.at - b.at,
  )
  const [somebody] = people
  if (!somebody) return null
  const i = occurrences(lexicon.i, clause).find(({ at, words }) => {
    // "我姐姐": before a person, the owner's pronoun only marks the possessor.
    const after = clause.slice(at + words.length).replace(/^(?:们|們)?(?:的|家)?\s*/u, '')
    return !people.some((person) => after.startsWith(person.words) && lexicon.code === 'zh')
  })
  if (i && i.at < somebody.at) return null
  // "My wife and I", "with my sister I …": the owner is included.
  if (i && joinedWithI(clause, somebody.at + somebody.words.length, i.at)) return null
  // "The doctor put me on a diet" is about the owner.
  if (lexicon.code === 'en' && DONE_TO_ME.test(clause.slice(somebody.at + somebody.words.length))) return null
  const isPossessorOfValue =
    /^(?:with|for|to|by|at|mit|für|bei|avec|pour|con|para|com|com a|met|voor|med|z|ze|с|со|для|у) /u.test(
      clause,
    )
  return isPossessorOfValue && i ? null : somebody.words
}

const DONE_TO_ME =
  /^(?: \p{L}+)? (?:(?:has|had|have|is|was) )?\p{L}+(?:ed|ing|s)? me (?:on|off|with|an?|as|to be|some|any|the|my) /u

function joinedWithI(clause: string, from: number, to: number): boolean {
  return /^[^.]{0,30}(?:and|und|et|y|e|en|och|i|и|та|και|و) $/u.test(clause.slice(from, to))
}

/** Languages that require "I". A statement without it is about somebody or something else. */
const SAYS_I: ReadonlySet<string> = new Set(['de', 'fr', 'nl', 'sv'])

/**
 * The opening of a clause, if it may be a name. In English it precedes a third-person verb. In languages that
 * require "I", it is the first word of a clause without one.
 */
function namedSubject(clause: string, lexicon: Lexicon): string | null {
  const words = clause.split(' ').map((word) => word.replace(/(?<![.,!?])[.,!?]+$/, ''))
  if (SAYS_I.has(lexicon.code)) {
    const [first = ''] = words
    const saysI = occurs(lexicon.i, clause) || occurs(lexicon.self, clause)
    return saysI || words.length < 3 || occurs(lexicon.common, first) ? null : first
  }
  const titled = TITLED[lexicon.code]?.exec(clause)?.groups?.name
  if (titled !== undefined) return titled
  if (lexicon.code !== 'en') return null
  const possessor = POSSESSOR.exec(clause)?.groups?.name
  if (possessor !== undefined) return possessor
  if (/^you(?:'(?:re|ve|ll|d))?$/.test(words[0] ?? ''))
    return occurs(lexicon.i, clause) || occurs(lexicon.self, clause) ? null : 'you'
  const isDefinite = /^(?:the|a|an)$/.test(words[0] ?? '')
  const isVerb = (word: string) => THIRD_PERSON.test(word) && !(isDefinite && COPULA.test(word))
  const verb = words.slice(0, isDefinite ? 7 : 4).findIndex((word, index) => index > 0 && isVerb(word))
  const subject = words.slice(isDefinite ? 1 : 0, Math.max(0, verb))
  if (isDefinite) return subject.length > 0 ? subject.join(' ') : null
  if (subject.length === 0 || subject.some((word) => NOT_A_NAME.has(word) || occurs(lexicon.i, word)))
    return null
  return subject.join(' ')
}

/** The first of two or more names that open a statement without the owner: "Jenny and Mark live in Hull". */
function namedPair(clause: string, { lexicon, quotable, sentences }: Evidence): string | null {
  if (occurs(lexicon.i, clause) || occurs(lexicon.self, clause)) return null
  const pairs = quotable.text.matchAll(
    /(?:^|[.!?\n] {0,3})(\p{Lu}[\p{L}'-]+)(?:, \p{Lu}[\p{L}'-]+)* (?:and|&|und|et|y|e|en|och|i|и) \p{Lu}/gu,
  )
  const names = [...pairs].map((pair) => foldText(pair[1] ?? ''))
  return (
    names.find((name) =>
      sentences.some(({ text }) => text.startsWith(`${name} `) || text.startsWith(`${name},`)),
    ) ?? null
  )
}

/** A person with a title or familiar name as the topic of a statement. */
const TITLED: { readonly [code: string]: RegExp } = {
  ja: /^(?<name>[^、。はが]{1,12}(?:さん|くん|君|ちゃん|様|氏|先生|部長|課長|社長))(?:は|が|も)/u,
  ko: /^(?<name>\S{1,6}(?: ?(?:씨|님|대리|과장|부장|차장|팀장|사장|선생님|교수님)))(?:은|는|이|가|도) /u,
  zh: /^(?<name>(?:老|小)(?![时時学學孩说說公婆家板闆实實师師是的心于吃区區费費提度气氣型狗猫])\p{Script=Han}|\p{Script=Han}{1,3}(?:先生|女士|小姐|老师|老師|经理|經理|医生|醫生))/u,
}

/** Whether the quote names a subject other than the owner, apart from kinship terms. */
function namesSubject(evidence: Evidence, subject: string): boolean {
  const words = contentWords(subject).filter((word) => !isOwnerWord(word))
  return (
    words.length === 0 ||
    words.some((word) => hasWord(evidence.words, word)) ||
    words.some((word) => hasWord(indexWords(joined(evidence.clauses)), word))
  )
}

const FORGET_POLITE =
  /^(?:(?:please|pls|ok|okay|now|hey|so|and|then|also|actually|no|bitte|s'il te plaît|por favor|per favore|пожалуйста|请|請)[ ,]+|(?:can|could|would|will) you (?:please )?|you (?:can|may|should|could) (?:please )?|i(?:'d like| want| need) you to |kannst du (?:bitte )?|du kannst |peux-tu |puedes |puoi |pode )*/u

/** Whether the owner asks to forget it, or not to keep it. */
export function askedToForget(evidence: Evidence): boolean {
  const { lexicon } = evidence
  return evidence.sentences.some(({ text }) => {
    const isUnspaced = lexicon.code === 'zh' || lexicon.code === 'ja' || lexicon.code === 'th'
    if (isUnspaced) return occurs(lexicon.forgetting, text) && !asksToRemember(text)
    const rest = text.replace(FORGET_POLITE, '')
    const [forget] = occurrences(lexicon.forgetting, rest)
    const [keep] = occurrences(lexicon.remembering, rest)
    // "Vergiss nicht": a request to remember may begin with the words for forgetting.
    return forget?.at === 0 && !(keep?.at === 0 && keep.words.length > forget.words.length)
  })
}

const MAX_AGREEMENT_WORDS = 8

/** Whether a message only agrees. Then the sentence that it agrees to counts as the owner's. */
export function merelyAgrees(text: string, lexicon: Lexicon): boolean {
  const folded = foldText(text).trim()
  if (folded.split(' ').length > MAX_AGREEMENT_WORDS || /[?？؟]/u.test(folded)) return false
  const first = folded.search(lexicon.agreeing)
  if (first < 0 || !/^[^\p{L}\p{N}]*$/u.test(folded.slice(0, first))) return false
  const rest = folded.replace(lexicon.agreeing, ' ').replace(lexicon.agreed, ' ')
  return !/[\p{L}\p{N}]/u.test(rest)
}

const MIN_CONTENT_WORDS = 3

/** The sentence agreed to: the last question, with the sentence before it if it says little alone. */
export function agreedSentence(text: string): string | null {
  const sentences = sentencesOf(text)
  const asked = sentences.findLastIndex((sentence) => /[?？؟;]["'”’»)\]]*$/u.test(sentence.text))
  const at = asked >= 0 ? asked : sentences.length - 1
  const sentence: Span | undefined = sentences[at]
  if (!sentence) return null
  const before = sentences[at - 1]
  const saysLittle = contentWords(sentence.text).length < MIN_CONTENT_WORDS
  return saysLittle && before ? `${before.text} ${sentence.text}` : sentence.text
}
