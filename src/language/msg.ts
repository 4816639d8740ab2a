import { AsyncLocalStorage } from 'node:async_hooks'
import { type Language, localeOf, translateSentenceTo, translateTo } from './languages.ts'
import { createMsg } from './message.ts'

const spoken = new AsyncLocalStorage<Language>()

/** Runs `act`, and all that it starts, in a language: that of a request, or the owner's. */
export const inLanguage = <T>(language: Language, act: () => T): T => spoken.run(language, act)

/** English outside of `inLanguage`, as for a machine. */
export const languageNow = (): Language => spoken.getStore() ?? 'en'

export const localeNow = (): string => localeOf(languageNow())

/** The text for an English one that was marked by `english`, or that comes from elsewhere. */
export const translated = (text: string): string => translateTo(languageNow(), text)

/** The same for a sentence that has its values, such as that of an error. */
export const translatedSentence = (text: string): string => translateSentenceTo(languageNow(), text)

/** Marks a text for people, and translates it. See `createMsg`. */
export const msg = createMsg(translated)
