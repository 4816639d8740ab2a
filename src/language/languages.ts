import german from './de.json' with { type: 'json' }
import { createTranslate, type Translate } from './message.ts'
import { pseudoTexts } from './pseudo.ts'
import { createSentences } from './sentences.ts'

/** The languages of the texts. `en-XA` is English in disguise, for tests: no browser asks for it by itself. */
export const languages = ['en-XA', 'en', 'de'] as const

export type Language = (typeof languages)[number]

const pseudo = pseudoTexts(german)

const translates: Readonly<Record<Language, Translate>> = {
  en: (english) => english,
  de: createTranslate(german),
  'en-XA': createTranslate(pseudo),
}

const sentences: Readonly<Record<Language, Translate>> = {
  en: (english) => english,
  de: createSentences(german),
  'en-XA': createSentences(pseudo),
}

/** Translates a sentence that has its values already. See `createSentences`. */
export const translateSentenceTo = (language: Language, english: string): string =>
  sentences[language](english)

/** Translates a text of the catalogue; one that is not in it stays English. */
export const translateTo = (language: Language, english: string): string => translates[language](english)

/** How a language writes dates and numbers: British for English, on a 24-hour clock. */
export const localeOf = (language: Language): string => (language === 'de' ? 'de-DE' : 'en-GB')

/**
 * The language of a request: the owner's, else the first that the client accepts (RFC 9110, 12.5.4; weights are ignored,
 * because browsers list languages by preference). English for machines, which accept none.
 */
export function languageOf(chosen: string, accepted: string | undefined): Language {
  const names = (accepted ?? '').split(',').map((part) => part.replace(/;.*/s, '').trim())
  const isMachine = names.every((name) => name === '' || name === '*')
  const wanted = isMachine ? [] : chosen === 'browser' ? names : [chosen]
  for (const name of wanted) {
    const found = languages.find((language) => language === name || language === name.split('-')[0])
    if (found) return found
  }
  return 'en'
}
