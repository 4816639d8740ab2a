export type QuestionKind = 'time' | 'count' | 'name'

/** English question phrases of each kind. */
const ASKING: Readonly<Record<QuestionKind, RegExp>> = {
  time: /\b(?:when|(?:what|which) (?:date|day|month|year|time)|how long ago|since when)\b/,
  count: /\b(?:how (?:many|much|often|long|old|far)|number of)\b/,
  name: /\b(?:who|whom|whose|where|which|names?|named|called|title)\b/,
}
const SELF = /\b(?:i|me|my|mine|myself|we|our|us)\b/
const OTHER = /\byours?\b|\byou\b/

/** What a text asks for. The words are folded, in order. */
export function questionKindsOf(words: readonly string[]): ReadonlySet<QuestionKind> {
  const text = words.join(' ')
  return new Set((['time', 'count', 'name'] as const).filter((kind) => ASKING[kind].test(text)))
}

/** Whether the text mentions the speaker and the person addressed. */
export function personsOf(words: readonly string[]): { readonly self: boolean; readonly other: boolean } {
  const text = words.join(' ')
  return { self: SELF.test(text), other: OTHER.test(text) }
}
