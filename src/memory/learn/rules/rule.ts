import type { MemoryKind } from '../candidate.ts'

/** What a rule extracts. The statement itself becomes the memory's text. */
export type Found = {
  readonly kind: MemoryKind
  /** Defaults to "owner". */
  readonly subject?: string
  readonly slot: string
  readonly value: string
  readonly singleValued?: boolean
}

/** Reads one kind of statement. `groups` are the groups of its pattern. Returns null if it does not apply. */
export type Rule = {
  readonly pattern: RegExp
  readonly read: (groups: Readonly<Record<string, string>>) => Found | null
}

/** A rule in which only the value varies. */
export function valueRule(
  pattern: RegExp,
  found: Omit<Found, 'value'>,
  isValue: (value: string) => boolean = () => true,
): Rule {
  return {
    pattern,
    read: ({ value = '' }) => {
      const clean = cleanValue(value)
      return clean !== null && isValue(clean) ? { ...found, value: clean } : null
    },
  }
}

const MAX_VALUE_WORDS = 12
const TRAILING =
  /(?<![\s,])[\s,]+(?:by the way|btw|you know|though|actually|please|too|as well|now|nowadays|these days|at the moment|currently|right now|anyway|anymore|any more|again|already|i think|of course|fyi|lol|one bit|at all|a bit|a lot|so much|very much|to death|really|either|everyone|all right)$/i
/** Refers to something outside the statement. */
const POINTING =
  /^(?:it|this|that|these|those|them|him|her|you|your|yours|how|when|what|where|why|if|so|not|to (?:say|ask|bother|interrupt|be honest|know|hear|see you))\b/i

/** The value without surrounding words and punctuation; null if nothing self-contained is left. */
export function cleanValue(value: string): string | null {
  let clean = value.trim()
  for (let round = 0; round < 3; round += 1)
    clean = clean.replace(/(?<![\s.,;:!?…"'”’)])[\s.,;:!?…"'”’)]+$/u, '').replace(TRAILING, '')
  clean = clean.replace(/^["'“‘(]+/u, '').trim()
  if (clean === '' || clean.split(/\s+/).length > MAX_VALUE_WORDS || POINTING.test(clean)) return null
  return clean
}

/** A place or an employer without what follows it. */
export function cutPlace(value: string): string {
  return value.replace(
    /(?<!\s)\s+(?:with|since|for|because|last|this|now|next|near|until|together|where|which|who|when|as an?|in \d{4}|\d+ (?:days?|weeks?|months?|years?) ago)\b.*$/is,
    '',
  )
}
