import { foldText } from './text.ts'

const KEEP =
  '(?:keep|save?|store?|remember|record|memori[sz]e?|retain|log|learn|(?:make a )?note(?: of)?|write)(?:ing)?'
const WHAT = '(?:(?:any of )?(?:this|that|it)|what i (?:just )?(?:said|told you))'
const NOT =
  "(?:don't|do not|dont|never|(?:should|must)(?:n't| not)|no need to|rather (?:not|you didn't)|without|stop|nor)(?: ever)?"
/** "I can never remember it" says what somebody does. */
const TELLS = "(?<!\\b(?:i|we|they|can|could|will|i'll|we'll)(?: really| still)? )"
const US = 'between (?:us|you and me)'
/** German, too: "don't keep this" is a promise in each language of the product, also without a model. */
const MERKE = '(?:merk|behalt|speicher|notier)'
const KEPT_OUT = new RegExp(
  [
    `(?!^don't remember (?:it|that)\\b)(?:${TELLS}\\b${NOT}|n't want you to) (?:${KEEP} ${WHAT}|(?:save|store) my)\\b`,
    `(?<!(?:n't|not(?: to)?|never|ever|always|i) )\\bforget (?:this ?:|${WHAT} (?:after|afterwards|once)\\b)`,
    `\\boff[ -]the[ -]record\\b|\\bnot for (?:the|your) (?:record|memory|notes)\\b`,
    `\\b(?:(?:just|stays|keep ${WHAT}) ${US}\\b|${US}(?= ?[,:])|keep ${WHAT} (?:out of|off) (?:your |the )?(?:memory|notes|records?)\\b)`,
    `(?<!\\b(?:ich|er|sie|wir) )\\b${MERKE}e?(?: (?:dir|das|dies|es|davon|bitte|lieber|aber|meine?[nrms]? \\p{L}+)){1,4} (?:nicht|nie|nirgends)\\b`,
    `\\b(?:dir|bitte)(?: das| es| bitte| dir){0,3} (?:nicht|nie|nirgends) (?:zu )?${MERKE}e?n\\b`,
    '\\bvergiss (?:das|dies)(?: bitte)? ?:|\\bunter uns(?: gesagt)?(?= ?[,:])',
  ].join('|'),
  'u',
)

/** Quotations, and quoted lines of a mail. */
const QUOTED = /["“„«][^"“”„«»]{0,300}["”»]|^[ \t]*>.*$/gm

/** Whether the owner asks, anywhere in a message but in a quotation, not to keep what it says. */
export function asksNotToKeep(text: string): boolean {
  // Folding takes an acute accent, which some type for an apostrophe, apart.
  return KEPT_OUT.test(foldText(text.replace(QUOTED, ' ').replaceAll('´', "'")).trim())
}
