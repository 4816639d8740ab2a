import type { Plan, Present } from '../plan.ts'
import type { Shortened } from './long-spaces.ts'

/**
 * A request as a rule sees it: without politeness, straight quotes, no long stretches of space; and the same stretch as it
 * was written, with the place there of each position.
 */
export type Request = Shortened & { readonly original: string; readonly present: Present }

/** What a rule makes of a request; null leaves it to the next rule. */
export type Rule = (request: Request) => Plan | null

/**
 * A rule by pattern. `build` gets what the groups caught, as it was written ("" for a group that took no part). Patterns are
 * anchored at the start and have at most one group in the middle, so that none of them takes long on any text.
 */
export function rule(
  pattern: RegExp,
  build: (groups: readonly string[], request: Request) => Plan | null,
): Rule {
  const indexed = new RegExp(pattern.source, `${pattern.flags.replace('d', '')}d`)
  return (request) => {
    const { text, original, placeOf } = request
    const { indices } = indexed.exec(text) ?? {}
    if (!indices) return null
    const groups = indices
      .slice(1)
      .map((range) => (range ? original.slice(placeOf(range[0]), placeOf(range[1])) : ''))
    return build(groups, request)
  }
}

/** The plan of the first rule that has one. */
export function firstOf(rules: readonly Rule[]): Rule {
  return (request) => {
    for (const each of rules) {
      const plan = each(request)
      if (plan) return plan
    }
    return null
  }
}
