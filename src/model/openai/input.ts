import type { ResponseInputItem } from 'openai/resources/responses/responses'
import * as z from 'zod'
import { dateFormat, knownZone } from '../../clock/date-format.ts'
import type { InputItem, ModelId, TextRequest } from '../port.ts'
import { withoutOrphans } from './call-pairs.ts'
import { type DataBlocks, splitRoleTokens } from './data-block.ts'

export type InputOptions = {
  /** Whose opaque items may be sent back; null where none may, because the service refused them. */
  readonly self: ModelId | null
  readonly dataBlock: DataBlocks
  /** Whether the server may parse role tokens inside content (any but OpenAI's own). */
  readonly splitsRoleTokens: boolean
}

/** A pause in the conversation after which the next message says when it was written. */
const PAUSE_MS = 30 * 60 * 1000

/**
 * Converts a context to the Responses API's input items. Words that are not the owner's go into data blocks. Opaque
 * items of this very model go back unchanged; others are replaced by their fallback. Drops calls without a result and
 * results without a call, because the service would refuse the whole request.
 */
export function toResponsesInput(
  request: Pick<TextRequest, 'input'> & Partial<Pick<TextRequest, 'now' | 'timezone'>>,
  options: InputOptions,
): ResponseInputItem[] {
  const { input, now, timezone = 'UTC' } = request
  const tellTime = createClockReader(timezone)
  const datedAfterPause = createPauseReader(tellTime)
  const entries = expandOpaque(input, options.self)
  // The present stands right before the message being answered: everything above it is as it was in the last turn, so
  // the service can cache it, and it has the same place in every round of a turn.
  const answeredAt = now === undefined ? -1 : entries.findLastIndex(isSaid)
  const present =
    now === undefined
      ? []
      : [developer(`It is now ${tellTime(Date.parse(now))} (${timezone}; ${now} in UTC).`)]
  const items = entries.flatMap((entry, index) => {
    const date = datedAfterPause(entry)
    const converted = 'blobItems' in entry ? entry.blobItems : toItems(entry, options)
    return [...(index === answeredAt ? present : date), ...converted]
  })
  return withoutOrphans(answeredAt === -1 ? [...items, ...present] : items)
}

/** Reads messages in order; says when one was written if it follows a pause and was said to the delegate. */
function createPauseReader(tellTime: (atMs: number) => string): (entry: Flat) => ResponseInputItem[] {
  let lastSaidMs: number | null = null
  return (entry) => {
    if (!('at' in entry) || entry.at === undefined) return []
    const saidMs = Date.parse(entry.at)
    // A clock that ran ahead steps back once it is set right: that counts as a pause too.
    const pauseMs = lastSaidMs === null ? PAUSE_MS : Math.abs(saidMs - lastSaidMs)
    lastSaidMs = saidMs
    const isDated = pauseMs >= PAUSE_MS && entry.role !== 'delegate'
    return isDated ? [developer(`Written ${tellTime(saidMs)}:`)] : []
  }
}

type Flat = Plain | { readonly blobItems: readonly ResponseInputItem[] }

function expandOpaque(input: readonly InputItem[], self: ModelId | null): readonly Flat[] {
  if (input.every(isPlain)) return input
  return input.flatMap((item): readonly Flat[] => {
    if (isPlain(item)) return [item]
    const isOurs = self !== null && item.model.provider === self.provider && item.model.model === self.model
    const blobItems = isOurs ? parseBlob(item.blob) : null
    return blobItems ? [{ blobItems }] : expandOpaque(item.fallback ?? [], self)
  })
}

function isPlain(item: InputItem): item is Plain {
  return item.type !== 'opaque'
}

const typedSchema = z.looseObject({ type: z.string() })
/** Items go back unchanged as the service made them, so only the service needs their exact shape. */
const blobSchema = z.array(z.custom<ResponseInputItem>((item) => typedSchema.safeParse(item).success)).min(1)

/** The items of a blob; null if it is damaged. */
function parseBlob(blob: string): ResponseInputItem[] | null {
  try {
    return blobSchema.safeParse(JSON.parse(blob)).data ?? null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

type Plain = Exclude<InputItem, { type: 'opaque' }>

/** An item as the API takes it; none for an empty message. */
function toItems(item: Plain, { dataBlock, splitsRoleTokens }: InputOptions): ResponseInputItem[] {
  const clean = splitsRoleTokens ? splitRoleTokens : (text: string) => text
  switch (item.type) {
    case 'message': {
      if (item.text === '') return []
      const text = clean(item.text)
      if (item.role === 'delegate') return [{ type: 'message', role: 'assistant', content: text }]
      const content = item.role === 'owner' ? text : dataBlock('guest, not the owner', text)
      return [{ type: 'message', role: 'user', content }]
    }
    case 'inner':
      // The user's role weighs less than the developer's, and the block may hold hostile text.
      return [{ type: 'message', role: 'user', content: dataBlock(item.label, clean(item.text)) }]
    case 'tool_call':
      return [{ type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments }]
    case 'tool_result':
      return [{ type: 'function_call_output', call_id: item.callId, output: clean(item.output) }]
  }
}

/** Whether an item is a message or a signal, as opposed to what the model did about it. */
function isSaid(item: Flat): boolean {
  return 'type' in item && (item.type === 'message' || item.type === 'inner')
}

const developer = (content: string): ResponseInputItem => ({ type: 'message', role: 'developer', content })

/** Formats moments in a time zone. */
function createClockReader(timezone: string): (atMs: number) => string {
  const timeZone = knownZone(timezone)
  const format = dateFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone })
  return (atMs) => format.format(atMs)
}
