import * as z from 'zod'
import type { InputItem } from '../port.ts'
import type { Known } from './facts.ts'
import { splitSentences } from './text.ts'

/** A call of this turn that has its result. */
export type Done = { readonly name: string; readonly args: unknown; readonly result: ToolOutcome }

/** What the builtin model sees of its input. */
export type Situation =
  /** Somebody speaks; `done` is what was called since they did. */
  | {
      readonly kind: 'spoken'
      readonly by: 'owner' | 'guest'
      readonly text: string
      readonly done: readonly Done[]
      /** Read when it is asked for: most requests need none of it. */
      readonly known: () => readonly Known[]
    }
  /** Nobody spoke since the last reply: signals woke the delegate. */
  | { readonly kind: 'woken'; readonly signals: readonly string[] }

/** What tools answer: `ok` and whatever they tell, or why not. Fields that are not there are not relied on. */
const outcomeSchema = z.looseObject({
  ok: z.boolean().catch(true),
  reason: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
})
export type ToolOutcome = z.output<typeof outcomeSchema>
const anyOutcomeSchema = outcomeSchema.catch({ ok: false })

/** Reads the input. Inner items are knowledge or signals, never somebody's request. */
export function readSituation(given: readonly InputItem[]): Situation {
  const input = given.some(({ type }) => type === 'opaque')
    ? given.flatMap((item) => (item.type === 'opaque' ? (item.fallback ?? []) : [item]))
    : given
  const spokenAt = input.findLastIndex((item) => item.type === 'message')
  const spoken = input[spokenAt]
  const after = input.slice(spokenAt + 1)
  // Signals after the last words mean that they, not the words, set this off: what was asked then is over.
  const isAnswering =
    spoken?.type === 'message' && spoken.role !== 'delegate' && after.every(({ type }) => type !== 'inner')
  if (!isAnswering) return { kind: 'woken', signals: signalsOf(after) }
  const by = spoken.role === 'guest' ? 'guest' : 'owner'
  const done = doneSince(after)
  return {
    kind: 'spoken',
    by,
    text: spoken.text,
    done,
    known: () => (by === 'owner' ? knownFrom(input, spokenAt) : []),
  }
}

function doneSince(items: readonly InputItem[]): Done[] {
  const results = new Map(
    items.flatMap((item) => (item.type === 'tool_result' ? [[item.callId, item.output]] : [])),
  )
  return items.flatMap((item): Done[] => {
    if (item.type !== 'tool_call') return []
    const output = results.get(item.callId)
    if (output === undefined) return []
    return [
      {
        name: item.name,
        args: parseJson(item.arguments),
        result: anyOutcomeSchema.parse(parseJson(output)),
      },
    ]
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Inner items that hold what is known; others (signals, results of tasks) answer no question. */
const RECALLED = /memor|recall/i
const SUMMARY = /fact|capsule|summar/i
const MAX_KNOWN_CHARS = 200_000

/**
 * What is known, the newest last: of the summary, of what was recalled, and of what the owner said since. Recalled lines
 * stand before the last words, and yet are older than all that is still before the model as it was said.
 */
function knownFrom(input: readonly InputItem[], before: number): Known[] {
  const summarised: Known[][] = []
  const recalled: Known[][] = []
  const said: Known[][] = []
  let chars = 0
  for (let index = before - 1; index >= 0 && chars < MAX_KNOWN_CHARS; index -= 1) {
    const item = input[index]
    if (item?.type === 'inner' && RECALLED.test(item.label)) recalled.push(recalledIn(item.text))
    else if (item?.type === 'inner' && SUMMARY.test(item.label)) summarised.push(summarisedIn(item.text))
    else if (item?.type === 'message' && item.role === 'owner') said.push(saidBy(item.text, item.at ?? null))
    chars += item && 'text' in item ? item.text.length : 0
  }
  return [summarised, recalled, said].flatMap((each) => each.reverse().flat())
}

/** A line of recall that may be an answer: what the delegate said is no source of facts, and what was corrected is over. */
const RECALLED_LINE = /^(\d{4}-\d{2}-\d{2}) (owner|memory \((?:active|contested)\)): (.+)$/

function recalledIn(text: string): Known[] {
  return text.split('\n').flatMap((line): Known[] => {
    const [, at = '', source, words = ''] = RECALLED_LINE.exec(line) ?? []
    if (source === undefined) return []
    return source === 'owner' ? saidBy(words, at) : [{ text: words, at }]
  })
}

/** Over a summary made by rules, whose lines are the owner's words as they were said. */
const SAID_HEADING = /^## What the owner said$/m

function summarisedIn(text: string): Known[] {
  const isSaid = SAID_HEADING.test(text)
  return text.split('\n').flatMap((line): Known[] => {
    const statement = line.replace(/^\s*[-*•]\s*/, '').trim()
    if (statement === '' || /^#/.test(statement)) return []
    return isSaid ? saidBy(statement, null) : [{ text: statement, at: null }]
  })
}

function saidBy(text: string, at: string | null): Known[] {
  return splitSentences(text)
    .filter((sentence) => !sentence.endsWith('?'))
    .map((sentence) => ({ text: sentence, at, isSaid: true }))
}

/** "- <time> <kind>: <text>", a line each; a line of another form counts as its own text. */
const SIGNAL_LINE = /^-?\s*(?:\S+\s+)?([a-z][a-z0-9_]*):\s+(.+)$/
/** What the owner wants to hear of at once; the rest waits on the timeline. Of a task its own delivery tells them. */
const TOLD = /^(?:timer|delivery)/

function signalsOf(items: readonly InputItem[]): string[] {
  return items.flatMap((item) => {
    if (item.type !== 'inner' || !/signal/i.test(item.label)) return []
    return item.text.split('\n').flatMap((line) => {
      const [, kind = '', text = ''] = SIGNAL_LINE.exec(line) ?? []
      return TOLD.test(kind) ? [text] : []
    })
  })
}
