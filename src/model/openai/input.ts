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
  const convert = convertedBy(options)
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
    const item = 'blobItems' in entry ? entry.blobItems : (convert(entry) ?? [])
    return [index === answeredAt ? present : date, item].flat()
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
    const blobItems = isOurs ? itemsOfBlob(item) : null
    return blobItems ? [{ blobItems }] : expandOpaque(item.fallback ?? [], self)
  })
}

function isPlain(item: InputItem): item is Plain {
  return item.type !== 'opaque'
}

const parsedBlobs = new WeakMap<Opaque, ResponseInputItem[] | null>()

function itemsOfBlob(item: Opaque): ResponseInputItem[] | null {
  let items = parsedBlobs.get(item)
  if (items === undefined) {
    items = parseBlob(item.blob)
    parsedBlobs.set(item, items)
  }
  return items
}

const blobSchema = z.array(z.looseObject({ type: z.string() })).min(1)

/** The items of a blob; null where it is not ours to read after all. */
function parseBlob(blob: string): ResponseInputItem[] | null {
  try {
    const parsed = blobSchema.safeParse(JSON.parse(blob))
    // They came from the service as output items and go back unchanged: their further shape is its own business.
    return parsed.success ? (parsed.data as unknown as ResponseInputItem[]) : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

type Plain = Exclude<InputItem, { type: 'opaque' }>
type Opaque = Extract<InputItem, { type: 'opaque' }>

const conversions = new WeakMap<DataBlocks, Map<boolean, WeakMap<Plain, ResponseInputItem | null>>>()

/** Converts an item once: the chain comes again with every request, and grows. */
function convertedBy({
  dataBlock,
  splitsRoleTokens,
}: InputOptions): (item: Plain) => ResponseInputItem | null {
  const clean = splitsRoleTokens ? splitRoleTokens : (text: string) => text
  const byOptions = conversions.get(dataBlock) ?? new Map<boolean, WeakMap<Plain, ResponseInputItem | null>>()
  conversions.set(dataBlock, byOptions)
  const known = byOptions.get(splitsRoleTokens) ?? new WeakMap<Plain, ResponseInputItem | null>()
  byOptions.set(splitsRoleTokens, known)
  return (item) => {
    let made = known.get(item)
    if (made === undefined) {
      made = toItem(item, clean, dataBlock)
      known.set(item, made)
    }
    return made
  }
}

function toItem(
  item: Plain,
  clean: (text: string) => string,
  dataBlock: DataBlocks,
): ResponseInputItem | null {
  switch (item.type) {
    case 'message':
      if (item.text === '') return null
      if (item.role === 'delegate') return { type: 'message', role: 'assistant', content: clean(item.text) }
      if (item.role === 'owner') return { type: 'message', role: 'user', content: clean(item.text) }
      return { type: 'message', role: 'user', content: dataBlock('guest, not the owner', clean(item.text)) }
    case 'inner':
      // The user's role, not the developer's: what is inside may be hostile, and must weigh as little as it can.
      return { type: 'message', role: 'user', content: dataBlock(item.label, clean(item.text)) }
    case 'tool_call':
      return { type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments }
    case 'tool_result':
      return { type: 'function_call_output', call_id: item.callId, output: clean(item.output) }
  }
}

/** A message or signals, and not what the model did about them. */
function isSaid(item: Flat): boolean {
  return 'type' in item && (item.type === 'message' || item.type === 'inner')
}

const developer = (content: string): ResponseInputItem => ({ type: 'message', role: 'developer', content })

/** Tells moments by the clock and calendar of a zone. */
function createClockReader(timezone: string): (atMs: number) => string {
  const timeZone = knownZone(timezone)
  const format = dateFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone })
  return (atMs) => format.format(atMs)
}
