import * as z from 'zod'
import { sentencesOf } from '../../text/text.ts'
import type { InputItem } from '../port.ts'
import type { Known } from './facts.ts'
import { type Outcome, readOutcome } from './results.ts'

const anyArgs = z.record(z.string(), z.unknown()).catch({})

/** A tool call and its outcome. */
export type Done = {
  readonly name: string
  readonly args: Record<string, unknown>
  readonly outcome: Outcome
}

/** A past message of the owner, its tool calls and the reply. */
export type Exchange = { readonly said: string; readonly done: readonly Done[]; readonly reply: string }

/** A message of the owner or a guest. `done` lists the calls made since. */
export type Conversation = {
  readonly by: 'owner' | 'guest'
  readonly text: string
  readonly done: readonly Done[]
  /** The latest exchanges, newest first. */
  readonly past: readonly Exchange[]
  /** Earlier statements of the owner. Computed on demand, because most requests don't need them. */
  readonly known: () => readonly Known[]
}

/** Signals woke the delegate; nobody has spoken since the last reply. */
type Woken = { readonly by: 'nobody'; readonly signals: readonly string[] }

const MAX_EXCHANGES = 4

/** Reads the input of a request. Inner items are never a request. */
export function readInput(given: readonly InputItem[]): Conversation | Woken {
  const input = given.some(({ type }) => type === 'opaque')
    ? given.flatMap((item) => (item.type === 'opaque' ? (item.fallback ?? []) : [item]))
    : given
  const spokenAt = input.findLastIndex((item) => item.type === 'message')
  const spoken = input[spokenAt]
  const after = input.slice(spokenAt + 1)
  const isAnswering =
    spoken?.type === 'message' && spoken.role !== 'delegate' && after.every(({ type }) => type !== 'inner')
  if (!isAnswering) return { by: 'nobody', signals: deliveriesIn(after) }
  const by = spoken.role === 'guest' ? 'guest' : 'owner'
  return {
    by,
    text: spoken.text,
    done: doneIn(after),
    past: pastOf(input, spokenAt),
    known: () => statementsIn(input.slice(0, spokenAt)),
  }
}

function pastOf(input: readonly InputItem[], before: number): Exchange[] {
  const past: Exchange[] = []
  let end = before
  for (let index = before - 1; index >= 0 && past.length < MAX_EXCHANGES; index -= 1) {
    const item = input[index]
    if (item?.type !== 'message' || item.role !== 'owner') continue
    const after = input.slice(index + 1, end)
    const reply = after.findLast((each) => each.type === 'message' && each.role === 'delegate')
    past.push({ said: item.text, done: doneIn(after), reply: reply?.type === 'message' ? reply.text : '' })
    end = index
  }
  return past
}

function doneIn(items: readonly InputItem[]): Done[] {
  const results = new Map(
    items.flatMap((item) => (item.type === 'tool_result' ? [[item.callId, item.output]] : [])),
  )
  return items.flatMap((item): Done[] => {
    const output = item.type === 'tool_call' ? results.get(item.callId) : undefined
    if (item.type !== 'tool_call' || output === undefined) return []
    const args = anyArgs.parse(parseJson(item.arguments))
    return [{ name: item.name, args, outcome: readOutcome(parseJson(output)) }]
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

/** Format: "- <time> <kind>: <text>". Only deliveries are repeated: the owner sees reminders anyway. */
const DELIVERY = /^-? ?(?:\S+ )?delivery[a-z0-9_]*: (.+)$/s

function deliveriesIn(items: readonly InputItem[]): string[] {
  return items.flatMap((item) =>
    item.type === 'inner' && /signal/i.test(item.label)
      ? item.text.split('\n').flatMap((line) => DELIVERY.exec(line)?.[1] ?? [])
      : [],
  )
}

const MAX_KNOWN_MESSAGES = 500

/** The sentences of the owner, newest last. Tools find older ones. */
function statementsIn(input: readonly InputItem[]): Known[] {
  const messages = input.filter((item) => item.type === 'message' && item.role === 'owner')
  return messages.slice(-MAX_KNOWN_MESSAGES).flatMap((item) => {
    if (item.type !== 'message') return []
    const sentences = sentencesOf(item.text).filter(({ text }) => !text.endsWith('?'))
    return sentences.map(({ text }) => ({ text, at: item.at ?? null, isSaid: true }))
  })
}
