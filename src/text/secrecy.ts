import { wordsOf } from '../../projections/recall-text.ts'
import { STOP_WORDS } from '../../projections/stop-words.ts'
import { foldText } from './text.ts'

/** The start of a clause, where an imperative stands: "I forget this: …" and "they don't keep it" tell something. */
const START =
  "(?:(?<![\\p{L}'] ?)|\\b(?:please|pls|but|aber) )(?:(?:please|pls|and|but|so|also|just|ok|und|aber|bitte) ){0,3}"
/** The end of a clause: "don't keep it in the fridge" is about something else. */
const END =
  "(?:(?! ?['\\p{L}\\p{N}])|(?= (?:please|pls|down|anywhere|at all|ever|either|ok|okay|thanks|because|(?:in|on) (?:your |the )?(?:memory|notes|records?|file)|bitte|ab|weil|für dich)\\b))"
const KEEP =
  '(?:keep|save?|store?|remember|record|memori[sz]e?|retain|log|learn|(?:(?:make|take) (?:a )?)?note(?: of)?|write down)(?:ing)?'
const THIS = '(?:this|that)(?: (?:message|conversation|chat|one|bit|pin|code|password))?'
const WHAT = `(?:(?:any of )?(?:${THIS}|it)|what i (?:just )?(?:said|told you))`
const NOT = "(?:don't|do not|dont|never|stop)(?: ever)?"
const US = '(?:between (?:us|you and me)|unter uns(?: gesagt)?)'
const NICHT = '(?:nicht|nie|nirgends|nichts(?: davon)?)'
const DAS =
  '(?:dir|das|dies|es|davon|bitte|lieber|aber|(?:meine?n?|die|den|das) \\p{L}*(?:pin|code|wort|zahl|nummer))'

/** In the languages of the product, because the wish holds at once and without a model, too. */
const KEPT_OUT = new RegExp(
  [
    // "Don't keep this". Alone, or after "but", "don't remember it" is short for "I don't remember it".
    `${START}(?!^(?:don't|dont) remember (?:it|that)[.!?]?$|(?<=\\bbut )don't remember it\\b)${NOT} (?:${KEEP} ${WHAT}|write ${WHAT} down)${END}`,
    // "Don't keep my PIN", "don't save my bank details: …", "don't remember that my PIN is …"
    `${START}${NOT} ${KEEP} (?:my(?: [\\p{L}-]+){0,2} (?:pin|code|passcode|password)${END}|my(?: [\\p{L}-]+){1,4} ?:|that my\\b)`,
    // "You should not keep this", "you don't need to remember that", "could you please not keep this"
    `(?:${START}you (?:(?:should|must) (?:not|never)|(?:should|must|need)n't|(?:don't|do not) (?:need|have) to)|\\bno need to|\\b(?:can|could|would) you please not) (?:keep|remember|store) ${THIS}${END}`,
    // "I don't want you to keep this", "I don't want this kept", "I'd rather not keep this", "I'd rather you didn't"
    `\\b(?:(?:i|we) (?:don't|do not|dont) want (?:you to ${KEEP} ${WHAT}|${WHAT} (?:kept|saved|stored|remembered|recorded|noted))|rather (?:not|you didn't) ${KEEP} ${WHAT})${END}`,
    // "Forget this: …", "forget that once you have answered", "vergiss das: …"
    `${START}(?:forget (?:this ?:|${WHAT} (?:after|afterwards|once)\\b)|vergiss (?:das|dies)(?: bitte)? ?:)`,
    '\\boff[ -]the[ -]record\\b|\\bnot for (?:the|your) (?:record|memory|notes)\\b',
    `\\bkeep ${WHAT} (?:(?:just )?${US}${END}|(?:out of|off) (?:your |the )?(?:memory|notes|records?)\\b)`,
    // "Between us: …", "just between us", "this stays between us", "das bleibt unter uns"
    `${START}${US} ?[,:]|\\bjust ${US}${END}|\\b(?:stays|das (?:bleibt|muss)(?: bitte| aber)?) ${US}(?: bleiben)?${END}`,
    // "Merk dir das nicht", "speichere meine PIN nicht", "schreib das nicht auf"
    `${START}(?:(?:merk|behalt|speicher|notier)e?(?: ${DAS}){1,4} ${NICHT}|schreibe?(?: ${DAS}){1,3} ${NICHT} auf)${END}`,
    // "Das bitte nicht speichern", "du musst dir das nicht merken", "ich will nicht, dass du dir das merkst"
    `(?:${START}|\\bdu (?:musst|sollst|solltest|darfst|brauchst) )(?:${DAS} ){0,3}${NICHT} (?:zu )?(?:merken|behalten|speichern|notieren|aufschreiben)${END}`,
    `\\bich (?:will|möchte) nicht, dass du(?: ${DAS}){1,2} (?:merkst|behältst|speicherst|notierst|aufschreibst)${END}`,
  ].join('|'),
  'u',
)

/** Quotations, also „so“ and »so«, and quoted lines of a mail. */
const QUOTED = /„[^"“”„]{0,300}["“”]|»[^«»]{0,300}«|["“«][^"“”„«»]{0,300}["”»]|^[ \t]*>.*$/gm

/** Whether the owner asks, anywhere in a message but in a quotation, not to keep what it says. */
export function asksNotToKeep(text: string): boolean {
  return KEPT_OUT.test(ownWords(text))
}

/** Whether a message with that wish says nothing else, so that it speaks of the one before: "Please don't keep that." */
export function wishesOnlyThat(text: string): boolean {
  const rest = ownWords(text).replace(KEPT_OUT, ' ')
  const clauses = rest
    .split(/[^\p{L}\p{N}' ]/u)
    .map((clause) => wordsOf(clause).filter((word) => !STOP_WORDS.has(word)))
  return !/\p{N}/u.test(rest) && clauses.every(({ length }) => length <= 1)
}

function ownWords(text: string): string {
  // A line may end without a full stop. Folding takes an acute accent, which some type for an apostrophe, apart.
  const own = text.trim().replace(QUOTED, ' ').replaceAll('\n', '. ').replaceAll('´', "'")
  return foldText(own).trim()
}
