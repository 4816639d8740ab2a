import { foldText, sentencesOf } from '../../text/text.ts'
import { contentWords } from '../../text/words.ts'

/**
 * English phrases that decide how a message is read, with or without a model. In other languages, the model's
 * judgement is the only one.
 */

const ASKS =
  "^(?:(?:please|pls|hey|hi|ok|okay|and|also|so|oh|well|yes|delegate|can you|could you|would you|will you|you should|i(?:'d like| want| need) you to)[ ,:!.]+)*"
const REMEMBER = new RegExp(
  `${ASKS}(?:(?:remember|note|memori[sz]e|(?:keep|bear) in mind|take note|for the record|don't forget)\\b(?! to\\b| when\\b| how\\b)(?: this\\b)?(?:[,:]? that\\b)?[,: -]*)`,
  'u',
)

/** Whether a message asks to remember something. What follows is then the owner's statement. */
export function asksToRemember(text: string): boolean {
  return REMEMBER.test(foldText(text).trim())
}

/** What a sentence asks to remember; null if it asks nothing, or only points back ("remember that"). */
export function requestedIn(sentence: string): string | null {
  // Folding may change the length, but not that of the words before the statement.
  const asked = REMEMBER.exec(foldText(sentence).trimStart())
  if (!asked) return null
  const statement = sentence.trimStart().slice(asked[0].length).trim()
  return contentWords(statement).length >= 2 || /[^\p{ASCII}]{4}/u.test(statement) ? statement : null
}

const TAKEN_BACK =
  /^(?:(?:haha|ha|lol|oh|no|nah|ok|sorry|wait|actually|i'm|i was|just|only)[ ,.!]+)*(?:kidding|joking|scrap that|strike that|ignore that|forget i said that|that was a joke)\b/u

/** Whether a message takes back the one before it. */
export function takesBack(text: string): boolean {
  return TAKEN_BACK.test(foldText(text).trim())
}

const AGREES = new Set(
  'yes yeah yep yup sure right correct exactly ok okay true absolutely definitely indeed certainly'.split(
    ' ',
  ),
)
/** May follow an agreement. Alone, they agree to nothing: "thanks" must not make a read-out mail the owner's words. */
const ADDS_NOTHING = new Set("please thanks thank you that's that it one do remember of course".split(' '))
const MAX_AGREEING_WORDS = 6

/** Whether a message only agrees to what was said before it. */
export function merelyAgrees(text: string): boolean {
  const words = foldText(text).match(/[^\s,.!]+/gu) ?? []
  const [first = ''] = words
  return (
    AGREES.has(first) &&
    words.length <= MAX_AGREEING_WORDS &&
    words.every((word) => AGREES.has(word) || ADDS_NOTHING.has(word))
  )
}

/** The sentence agreed to: the last question, with the sentence before it if it says little alone. */
export function agreedSentence(text: string): string | null {
  const sentences = sentencesOf(text)
  const asked = sentences.findLastIndex((sentence) => /\?["'”’»)\]]*$/u.test(sentence.text))
  const at = asked >= 0 ? asked : sentences.length - 1
  const [before, sentence] = [sentences[at - 1], sentences[at]]
  if (!sentence) return null
  return contentWords(sentence.text).length < 3 && before ? `${before.text} ${sentence.text}` : sentence.text
}

const DOUBTFUL =
  /(?:^|[,.;!] )if\b|\b(?:if (?:i|we|you|only)|what if|used to|i swear|(?:told|said|says)(?: \p{L}+)? (?:that )?(?:s?he|they)|would|i'd (?:love|like)|might|maybe|perhaps|wish|imagine|suppose|pretend|kidding|joking|lol|claims?|claimed|reckons?|apparently|supposedly|according to|dreamt|dreamed)\b|\b(?:(?:h[aei]|j[aei]) ?){2,}\b|🤣|😂|😜|😉|🙃|;-?\)/u

/** Whether a sentence may be meant otherwise than as a plain fact: imagined, reported or joked. */
export function isDoubtful(sentence: string): boolean {
  return DOUBTFUL.test(foldText(sentence))
}

/** Whether a pronoun in the text stands for somebody or something named earlier. */
export function hasPronoun(text: string): boolean {
  return /\b(?:s?he|her|him|his|hers|they|them|theirs?|it|its)\b/u.test(foldText(text))
}

/** Whether a text begins with such a pronoun. */
export function speaksOfOthers(text: string): boolean {
  return /^(?:s?he|they|it)\b/u.test(foldText(text).trim())
}

const DENIES = /\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot)\b|n't\b|\bdont\b|\bcant\b/u

export function denies(text: string): boolean {
  return DENIES.test(foldText(text))
}
