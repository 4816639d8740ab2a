const PLAIN = 'abcdefghijklmnopqrstuvwxyz'
const ACCENTED = 'åƀçðéƒĝĥîĵķļɱñöþɋŕšţûṽŵẋýž'

/**
 * A language for tests, `en-XA`: each text in brackets, with accents on its letters and words that are 40 % longer. It
 * shows which texts are not in the catalogue, and where long words do not fit.
 */
export function pseudoText(english: string): string {
  return `[${english.replace(/\{\d+\}|[a-z]+/gi, (word) => {
    if (word.startsWith('{')) return word
    const accented = Array.from(word, accent).join('')
    return accented + accented.slice(-Math.ceil(word.length * 0.4)).toLowerCase()
  })}]`
}

/** The catalogue of the pseudo-language. A text that is not in it stays as it is, so that tests find it. */
export const pseudoTexts = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.keys(texts).map((english) => [english, pseudoText(english)]))

function accent(letter: string): string {
  const accented = ACCENTED.charAt(PLAIN.indexOf(letter.toLowerCase()))
  return letter === letter.toLowerCase() ? accented : accented.toUpperCase()
}
