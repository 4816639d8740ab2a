import { ATTACHED, type InputItem, innerLabels } from '../port.ts'
import { type Outcome, readOutcome } from './results.ts'

/** A tool call and its outcome. */
export type Done = { readonly name: string; readonly outcome: Outcome }

/** A past message of the owner and the reply. */
export type Exchange = { readonly said: string; readonly reply: string }

/** A message of the owner or a guest. `done` lists the calls made since. */
export type Conversation = {
  readonly by: 'owner' | 'guest'
  readonly text: string
  readonly hasAttachments: boolean
  readonly done: readonly Done[]
  /** The latest exchanges, newest first. */
  readonly past: readonly Exchange[]
}

const MAX_EXCHANGES = 4

/** What a call may learn while it answers. It asks for nothing. */
const ASIDES = new Set<string>([innerLabels.memories, innerLabels.elsewhere])

/** Null if signals woke the delegate: nobody has spoken since the last reply. */
export function readInput(input: readonly InputItem[]): Conversation | null {
  const spokenAt = input.findLastIndex((item) => item.type === 'message')
  const spoken = input[spokenAt]
  const after = input.slice(spokenAt + 1)
  const isAnswering =
    spoken?.type === 'message' &&
    spoken.role !== 'delegate' &&
    after.every((item) => item.type !== 'inner' || ASIDES.has(item.label))
  if (!isAnswering) return null
  const [text = '', attached] = spoken.text.split(ATTACHED)
  return {
    by: spoken.role === 'guest' ? 'guest' : 'owner',
    text: text.trim(),
    hasAttachments: attached !== undefined,
    done: doneIn(after),
    past: pastOf(input.slice(0, spokenAt)),
  }
}

/** What a call wants said to the caller, if it is that; null for anything else. */
export function spokenOf(input: readonly InputItem[], listening: string): string | null {
  const last = input.at(-1)
  if (last?.type !== 'inner') return null
  if (last.label === innerLabels.phone) return listening
  return last.label === innerLabels.keypad ? last.text : null
}

function pastOf(input: readonly InputItem[]): Exchange[] {
  const past: Exchange[] = []
  let reply = ''
  for (const item of input.toReversed()) {
    if (item.type !== 'message' || past.length === MAX_EXCHANGES) continue
    if (item.role === 'delegate') reply ||= item.text
    if (item.role !== 'owner') continue
    past.push({ said: item.text, reply })
    reply = ''
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
    return [{ name: item.name, outcome: readOutcome(output) }]
  })
}
