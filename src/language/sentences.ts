import { createTranslate, fill, type Translate } from './message.ts'

/**
 * Translates texts that already have their values, such as those in facts and faults: finds the longest text of the
 * catalogue that fits. Splits what is several sentences, or a sentence and its cause in parentheses. Others stay as
 * they are.
 */
export function createSentences(texts: Readonly<Record<string, string>>): Translate {
  const lookUp = createTranslate(texts)
  const templates = Object.keys(texts)
    // A short text with a value in front fits too much.
    .filter((text) => text.includes('{0}') && (!text.startsWith('{0}') || text.length > 60))
    .map((text) => ({ text, parts: text.split(/\{\d+\}/) }))
    .sort((a, b) => b.text.length - a.text.length)

  /** Null if no text of the catalogue fits. */
  function whole(sentence: string): string | null {
    const known = lookUp(sentence)
    if (known !== sentence) return known
    for (const { text, parts } of templates) {
      const values = valuesOf(sentence, parts)
      if (values === null) continue
      // A value may be a sentence itself, or a reason.
      const isText = (value: string, at: number) => value.endsWith('.') || parts[at]?.endsWith(': ')
      return fill(
        lookUp(text),
        values.map((value, at) => (isText(value, at) ? translate(value) : value)),
      )
    }
    return null
  }

  /** Null unless all pieces are known, because the texts of programs begin like ours. */
  function inPieces(text: string): string | null {
    for (let end = text.lastIndexOf('. '); end > 0; end = text.lastIndexOf('. ', end - 1)) {
      const first = whole(text.slice(0, end + 1))
      if (first === null) continue
      const rest = text.slice(end + 2)
      const known = rest.startsWith('(') && rest.endsWith(')') ? rest : (whole(rest) ?? inPieces(rest))
      return known === null ? null : `${first} ${known}`
    }
    return null
  }

  const translate: Translate = (text) => whole(text) ?? inPieces(text) ?? text
  return translate
}

/** What stands between the parts of a template in a text; null if it does not fit. */
export function valuesOf(text: string, [first = '', ...rest]: readonly string[]): string[] | null {
  if (!text.startsWith(first)) return null
  const values: string[] = []
  let from = first.length
  for (const [at, part] of rest.entries()) {
    const isLast = at === rest.length - 1
    const end = isLast ? text.length - part.length : text.indexOf(part, from)
    if (end < from || !text.startsWith(part, end)) return null
    values.push(text.slice(from, end))
    from = end + part.length
  }
  return from === text.length ? values : null
}
