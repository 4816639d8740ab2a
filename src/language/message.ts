/** Looks up a text of the catalogue by its English: `Every {0} minutes` is one with a value. */
export type Translate = (english: string) => string

/** Texts that are not in the catalogue stay English. */
export const createTranslate =
  (texts: Readonly<Record<string, string>>): Translate =>
  (english) =>
    (Object.hasOwn(texts, english) && texts[english]) || english

/** The English of a template as the catalogue has it, with numbered places for its values. */
export function englishOf(strings: readonly string[]): string {
  return strings.reduce((text, part, at) => `${text}{${at - 1}}${part}`)
}

/** Puts values into their places. */
export const fill = (text: string, values: readonly unknown[]): string =>
  text.replace(/\{(\d+)\}/g, (_, at) => String(values[at]))

/**
 * Makes the tag that marks all texts for people: msg`Every ${step} minutes`. `npm run texts` collects them into the
 * catalogues.
 */
export function createMsg(translate: Translate) {
  return (strings: readonly string[], ...values: readonly unknown[]): string =>
    fill(translate(englishOf(strings)), values)
}

/**
 * Marks an English text that is translated later, with `translated` or `translateSentence`: in a table that is read in
 * several languages, or in a fact.
 */
export const english = createMsg((text) => text)
