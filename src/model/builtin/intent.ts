import type { Conversation } from './conversation.ts'
import type { Known } from './facts.ts'
import { type Outcome, readOutcome, whyNot } from './results.ts'
import { type Heard, tidy } from './text.ts'

/** A tool call to be made. */
export type Call = { readonly name: string; readonly args: Readonly<Record<string, unknown>> }

/** The time that the owner's words refer to. */
export type Present = { readonly now: Date; readonly timezone: string }

export type World = {
  readonly present: Present
  readonly conversation: Conversation
  readonly can: (tool: string) => boolean
  /** What there is of a statement in what the owner said; null for a request or a question. */
  readonly stated: (said: Known) => Known | null
}

/** An answer in steps: yields the calls it needs, receives their outcomes, and returns what to say. */
export type Steps = Generator<readonly Call[], string, readonly Outcome[]>

export type Reply = string | Steps

/**
 * Answers a request, given what the groups of its pattern caught ("" for a group that took no part); null leaves it to
 * the next intent.
 */
export type Handler = (groups: readonly string[], world: World) => Reply | null

export type Intent = {
  /**
   * Anchored at the start, and linear. They see the text with straight quotes, single spaces, and no politeness or
   * punctuation around it.
   */
  readonly patterns: readonly RegExp[]
  readonly run: Handler
  /** `talk` gives way to a request in the same message; `content` takes all that follows it as its content. */
  readonly kind: 'talk' | 'request' | 'content'
  /** What the request states, so that a later question can be answered by it. */
  readonly states?: (groups: readonly string[]) => string
}

type Pattern = RegExp | string

/** Declares an intent. A pattern given as a string has to match the whole text. */
export function on(
  given: Pattern | readonly Pattern[],
  run: Handler,
  more: Partial<Pick<Intent, 'kind' | 'states'>> = {},
): Intent {
  const patterns = [given].flat().map((each: Pattern) => {
    return new RegExp(typeof each === 'string' ? `^(?:${each})$` : each, 'duis')
  })
  return { patterns, run, kind: 'request', ...more }
}

/** Steps that come to something else than a text. */
export type StepsTo<T> = Generator<readonly Call[], T, readonly Outcome[]>

/** One tool call. */
export function* use(name: string, args: Call['args']): StepsTo<Outcome> {
  const [outcome] = yield [{ name, args }]
  return outcome ?? readOutcome(null)
}

/** One tool call, and what to say of its outcome, or why it did nothing. */
export function* report(name: string, args: Call['args'], say: (outcome: Outcome) => string): Steps {
  const outcome = yield* use(name, args)
  return outcome.ok ? say(outcome) : whyNot(outcome)
}

/** What each group caught, as the owner wrote it; null without a match. */
export function matchOf(pattern: RegExp, { text, places, original }: Heard): readonly string[] | null {
  const { indices } = pattern.exec(text) ?? {}
  if (!indices) return null
  return indices.slice(1).map((range) => {
    if (!range || range[0] === range[1]) return ''
    const [start, end] = range
    // What reaches to the end is content: it keeps its punctuation, however long it is.
    const last = end === text.length ? original.length : (places[end - 1] ?? 0) + 1
    return original.slice(places[start], last)
  })
}

/** The first group that took part, without quotation marks and punctuation around it. */
export function firstOf(groups: readonly string[]): string {
  return tidy(groups.find((group) => group !== '') ?? '')
}
