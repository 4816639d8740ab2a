import { foldText } from './text.ts'

const KEEP = '(?:keep|store|save|remember|record|memori[sz]e|retain|log|learn|note|write)'
const WHAT = '(?:this|that|it|any of (?:this|that|it)|what i (?:just )?(?:said|told you))'
/** "I can never remember it" says what somebody does. */
const TELLS = "(?<!\\b(?:i|we|they|can|could|will|i'll|we'll) )"
const KEPT_OUT = new RegExp(
  `${TELLS}\\b(?:don't|do not|dont|never|no need to|rather not|without|stop|nor) ${KEEP}(?:ing)? ${WHAT}\\b` +
    `|\\b(?:off the record|not for (?:the|your) (?:record|memory|notes)|forget ${WHAT} (?:after|afterwards|once)` +
    `|between (?:us|you and me)|keep ${WHAT} (?:out of|off) (?:your |the )?(?:memory|notes|records?))\\b`,
  'u',
)

const QUOTED = /["“„«][^"“”„«»]{0,300}["”»]/g

/** Whether the owner asks, anywhere in a message but in a quotation, not to keep what it says. */
export function asksNotToKeep(text: string): boolean {
  return KEPT_OUT.test(foldText(text.replace(QUOTED, ' ')))
}
