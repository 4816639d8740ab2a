import { createMsg, type Translate } from '../../../src/language/message.ts'

/** The language of the page, set by a script that the service links for all but English. */
declare global {
  var delegateLanguage:
    | { readonly locale: string; readonly translate: Translate; readonly translateSentence: Translate }
    | undefined
}

/** How dates and numbers are written: British for English, on a 24-hour clock. */
export const locale = globalThis.delegateLanguage?.locale ?? 'en-GB'

const english: Translate = (text) => text

/** The text of the catalogue for an English one that is only known at run time, such as one that the service sends. */
export const translated = globalThis.delegateLanguage?.translate ?? english

/** The same for a sentence of a fact, which has its values. */
export const translateSentence = globalThis.delegateLanguage?.translateSentence ?? english

/** Marks a text for people, and translates it. */
export const msg = createMsg(translated)
