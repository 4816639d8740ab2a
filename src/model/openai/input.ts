import type { ResponseInputItem } from 'openai/resources/responses/responses'
import * as z from 'zod'
import { parseJson } from '../../lib/parse-json.ts'
import { formatLocal } from '../../lib/time.ts'
import { type InputItem, isSameModel, type ModelId, type TextRequest } from '../port.ts'
import { type DataBlocks, splitRoleTokens } from './data-block.ts'

export type InputOptions = {
  readonly dataBlock: DataBlocks
  /** Whether the server may parse role tokens in content (any server but OpenAI's). */
  readonly splitsRoleTokens: boolean
}

/** What an input is made of. Without `now`, the current time is left out. */
export type InputOf = Pick<TextRequest, 'input'> & Partial<Pick<TextRequest, 'now' | 'timezone'>>

/** After a pause of this length, the next message is dated. */
const PAUSE_MS = 30 * 60 * 1000

/**
 * Converts a context to input items of the Responses API. Foreign words go into data blocks. Opaque items of
 * this model go back unchanged, others are dropped. So are unpaired calls and results, because
 * the service would refuse the request.
 */
export function toResponsesInput(
  request: InputOf,
  self: ModelId,
  options: InputOptions,
): ResponseInputItem[] {
  return withoutOrphans(withTimes(request).flatMap((item) => toItems(item, self, options)))
}

/** An item, or a time of our own that goes before it. */
export type TimedItem = InputItem | { readonly type: 'time'; readonly text: string }

/** The input with the current time, and a date after each pause. */
export function withTimes(request: InputOf): TimedItem[] {
  const { input, now, timezone = 'UTC' } = request
  const datedAfterPause = createPauseReader(timezone)
  // The current time goes right before the message being answered. Everything above it stays the same from
  // turn to turn, so the service can cache it.
  const answeredAt =
    now === undefined ? -1 : input.findLastIndex(({ type }) => type === 'message' || type === 'inner')
  const present: TimedItem[] =
    now === undefined
      ? []
      : [
          {
            type: 'time',
            text: `It is now ${formatLocal(Date.parse(now), timezone)} (${timezone}; ${now} in UTC).`,
          },
        ]
  const items = input.flatMap((entry, index) => {
    const date = datedAfterPause(entry)
    return [...(index === answeredAt ? present : date), entry]
  })
  return answeredAt === -1 ? [...items, ...present] : items
}

/** Call in order of messages. Dates a message to the delegate that follows a pause. */
function createPauseReader(timezone: string): (entry: InputItem) => TimedItem[] {
  let lastSaidMs: number | null = null
  return (entry) => {
    if (!('at' in entry) || entry.at === undefined) return []
    const saidMs = Date.parse(entry.at)
    // A clock that was corrected steps back: that counts as a pause too.
    const pauseMs = lastSaidMs === null ? PAUSE_MS : Math.abs(saidMs - lastSaidMs)
    lastSaidMs = saidMs
    const isDated = pauseMs >= PAUSE_MS && entry.role !== 'delegate'
    return isDated ? [{ type: 'time', text: `Written ${formatLocal(saidMs, timezone)}:` }] : []
  }
}

const typedSchema = z.looseObject({ type: z.string() })
/** Not validated further: the items go back as the service made them. */
const blobSchema = z.array(z.custom<ResponseInputItem>((item) => typedSchema.safeParse(item).success)).min(1)

/** Empty for an empty message. */
function toItems(
  item: TimedItem,
  self: ModelId,
  { dataBlock, splitsRoleTokens }: InputOptions,
): ResponseInputItem[] {
  const clean = splitsRoleTokens ? splitRoleTokens : (text: string) => text
  switch (item.type) {
    case 'time':
      return [{ type: 'message', role: 'developer', content: item.text }]
    case 'message': {
      if (item.text === '') return []
      const text = clean(item.text)
      if (item.role === 'delegate') return [{ type: 'message', role: 'assistant', content: text }]
      const content = item.role === 'owner' ? text : dataBlock('guest, not the owner', text)
      return [{ type: 'message', role: 'user', content }]
    }
    case 'inner':
      // The user role has less weight than the developer role, and the block may be hostile.
      return [{ type: 'message', role: 'user', content: dataBlock(item.label, clean(item.text)) }]
    case 'tool_call':
      return [{ type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments }]
    case 'tool_result':
      return [{ type: 'function_call_output', call_id: item.callId, output: clean(item.output) }]
    case 'opaque':
      // None if the blob is damaged.
      return isSameModel(self, item.model) ? (blobSchema.safeParse(parseJson(item.blob)).data ?? []) : []
  }
}

/** The call id of a call or a result, empty if missing; null for any other item. */
function callIdOf(item: ResponseInputItem): string | null {
  if (item.type === 'function_call') return item.call_id
  return item.type === 'function_call_output' ? (item.call_id ?? '') : null
}

/** Drops unpaired calls and results, and duplicates of either. */
function withoutOrphans(items: readonly ResponseInputItem[]): ResponseInputItem[] {
  const called = new Set<string>()
  const returned = new Set<string>()
  for (const item of items) {
    const callId = callIdOf(item)
    if (callId) (item.type === 'function_call' ? called : returned).add(callId)
  }
  const seen = new Set<string>()
  return items.filter((item) => {
    const callId = callIdOf(item)
    if (callId === null) return true
    // The blob of a round may repeat a call.
    const key = `${item.type} ${callId}`
    if (seen.has(key)) return false
    seen.add(key)
    return called.has(callId) && returned.has(callId)
  })
}
