import type { Language } from '../../language/languages.ts'
import type { Conversation } from './conversation.ts'
import { NO_OUTCOME, type Outcome, whyNot } from './results.ts'
import { type Heard, tidy } from './text.ts'

export type Call = { readonly name: string; readonly args: Readonly<Record<string, unknown>> }

export type Clock = { readonly now: Date; readonly timezone: string }

/** Sentences are English; their dates and numbers are written as in the language of the owner. */
export type Present = Clock & { readonly language: Language }

export type World = {
  readonly present: Present
  readonly conversation: Conversation
  readonly can: (tool: string) => boolean
}

/** An answer in steps: yields tool calls, receives their outcomes, and returns the reply. */
export type Steps = Generator<readonly Call[], string, readonly Outcome[]>

export type Reply = string | Steps

/** Answers a request from the captured groups ("" for an unused one). Null passes it to the next intent. */
export type Handler = (groups: readonly string[], world: World) => Reply | null

export type Intent = {
  /**
   * Anchored at the start and linear. They see normalised text: straight quotes, single spaces, no polite
   * words.
   */
  readonly patterns: readonly RegExp[]
  readonly run: Handler
  /**
   * `talk` gives way to a request in the same message; `content` includes everything that follows; `statement`
   * includes what follows as far as it asks for nothing.
   */
  readonly kind: 'talk' | 'request' | 'content' | 'statement'
}

type Pattern = RegExp | string

/** Declares an intent. A string pattern must match the whole text. */
export function on(
  given: Pattern | readonly Pattern[],
  run: Handler,
  kind: Intent['kind'] = 'request',
): Intent {
  const patterns = [given].flat().map((each: Pattern) => {
    return new RegExp(typeof each === 'string' ? `^(?:${each})$` : each, 'duis')
  })
  return { patterns, run, kind }
}

/** Steps that return something other than a reply. */
export type StepsTo<T> = Generator<readonly Call[], T, readonly Outcome[]>

/** One tool call. */
export function* use(name: string, args: Call['args']): StepsTo<Outcome> {
  const [outcome] = yield [{ name, args }]
  return outcome ?? NO_OUTCOME
}

/** Makes one tool call and reports its outcome, or why it did nothing. */
export function* report(name: string, args: Call['args'], say: (outcome: Outcome) => string): Steps {
  const outcome = yield* use(name, args)
  return outcome.ok ? say(outcome) : whyNot(outcome)
}

/** They count as a space, but "🌷 garden" begins with one. */
const EMOJI_BEFORE = /(?:\p{Extended_Pictographic}[\u200d\ufe0f\s]{0,2})+$/u

/** The captured groups in the original words; null without a match. */
export function matchOf(pattern: RegExp, { text, places, original }: Heard): readonly string[] | null {
  const { indices } = pattern.exec(text) ?? {}
  if (!indices) return null
  return indices.slice(1).map((range) => {
    if (!range || range[0] === range[1]) return ''
    const [start, end] = range
    // A group that reaches the end is content: keep its punctuation and its full length.
    const last = end === text.length ? original.length : (places[end - 1] ?? 0) + 1
    const first = places[start] ?? 0
    return (EMOJI_BEFORE.exec(original.slice(0, first))?.[0] ?? '') + original.slice(first, last)
  })
}

/** The first non-empty group, tidied. */
export function firstOf(groups: readonly string[]): string {
  return tidy(groups.find((group) => group !== '') ?? '')
}
