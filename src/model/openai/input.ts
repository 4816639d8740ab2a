import type { ResponseInputItem } from 'openai/resources/responses/responses'
import * as z from 'zod'
import { dateFormat, knownZone } from '../../clock/date-format.ts'
import type { InputItem, ModelId, TextRequest } from '../port.ts'
import { callIdOf, createPairs, withoutOrphans } from './call-pairs.ts'
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

/** What an item's conversion depends on of those that stand before it. */
export type Before = {
  /** When the last message was said; null where none says so. */
  readonly lastSaidMs: number | null
  /** The calls that have their results. */
  readonly callIds: ReadonlySet<string>
}

export const NOTHING_BEFORE: Before = { lastSaidMs: null, callIds: new Set() }

/**
 * The context as the Responses API takes it; with `before`, the end of one. What is not the owner's goes into data blocks;
 * opaque items of this very model go back as they came, others are replaced by their fallback. A call without its
 * result, and the reverse, is left out: the service would refuse the whole request.
 */
export function toResponsesInput(
  request: Pick<TextRequest, 'input'> & Partial<Pick<TextRequest, 'now' | 'timezone'>>,
  options: InputOptions,
  before = NOTHING_BEFORE,
): ResponseInputItem[] {
  const { input, now, timezone = 'UTC' } = request
  const tellTime = createClockReader(timezone)
  const present = () =>
    developer(`It is now ${tellTime(Date.parse(now ?? ''))} (${timezone}; ${now} in UTC).`)
  const { convert } = createConverter(options, tellTime, before)
  const flat = expandOpaque(input, options.self)
  // Right before what is answered: late enough that all before it is as it was in the turn before and can be cached,
  // and in the same place in every round of a turn.
  const presentAt = now === undefined ? -1 : flat.findLastIndex(isSaid)
  const items: ResponseInputItem[] = []
  for (const [index, entry] of flat.entries()) {
    if (index === presentAt) items.push(present())
    items.push(...convert(entry, index === presentAt))
  }
  if (now !== undefined && presentAt === -1) items.push(present())
  return withoutOrphans(items, before.callIds)
}

/** The items of a context's beginning that stay as they are whatever follows it. */
export type Settled = {
  readonly items: readonly ResponseInputItem[]
  /** How many items of the input they stand for. */
  readonly count: number
  /** What stands before all that follows them. */
  readonly before: Before
}

/** Converts a beginning, or what follows one, as `toResponsesInput` does, up to the first call that lacks its result. */
export function settleInput(
  { input, timezone = 'UTC' }: Pick<TextRequest, 'input'> & Partial<Pick<TextRequest, 'timezone'>>,
  options: InputOptions,
  before: Before,
): Settled {
  const { convert, lastSaidMs } = createConverter(options, createClockReader(timezone), before)
  const pairs = createPairs(before.callIds)
  const items: ResponseInputItem[] = []
  let settled = { length: 0, count: 0, lastSaidMs: before.lastSaidMs }
  for (const [index, item] of input.entries()) {
    const converted = expandOpaque([item], options.self).flatMap((entry) => convert(entry, false))
    for (const each of converted) pairs.add(each)
    items.push(...converted)
    if (pairs.areWhole()) settled = { length: items.length, count: index + 1, lastSaidMs: lastSaidMs() }
  }
  const whole = withoutOrphans(items.slice(0, settled.length), before.callIds)
  const ids = whole.flatMap((item) => callIdOf(item) ?? [])
  const callIds = ids.length === 0 ? before.callIds : new Set([...before.callIds, ...ids])
  return { items: whole, count: settled.count, before: { lastSaidMs: settled.lastSaidMs, callIds } }
}

/** Where the last item stands that says something, before which the present is told; -1 for none. */
export function findLastSaid(input: readonly InputItem[], self: ModelId | null): number {
  return input.findLastIndex((item) => expandOpaque([item], self).some(isSaid))
}

/** Converts items one after the other, telling where the conversation went on after a pause. */
function createConverter(options: InputOptions, tellTime: (atMs: number) => string, before: Before) {
  const converted = convertedBy(options)
  let { lastSaidMs } = before
  return {
    convert(entry: Flat, isAnswered: boolean): readonly ResponseInputItem[] {
      if ('blobItems' in entry) return entry.blobItems
      const { item, saidMs } = converted(entry)
      const items = item ? [item] : []
      if (saidMs === null) return items
      // A clock that was ahead and is right again goes back by as much.
      const pauseMs = lastSaidMs === null ? PAUSE_MS : Math.abs(saidMs - lastSaidMs)
      const isNews = !isAnswered && pauseMs >= PAUSE_MS
      lastSaidMs = saidMs
      return isNews && isSaidToDelegate(entry) ? [developer(`Written ${tellTime(saidMs)}:`), ...items] : items
    },
    lastSaidMs: () => lastSaidMs,
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

/** An item as the API takes it, null where it says nothing, and when a message was said, where that is known. */
type Converted = { readonly item: ResponseInputItem | null; readonly saidMs: number | null }
const conversions = new WeakMap<DataBlocks, Map<boolean, WeakMap<Plain, Converted>>>()

/** Converts an item once: the chain comes again with every request, and grows. */
function convertedBy({ dataBlock, splitsRoleTokens }: InputOptions): (item: Plain) => Converted {
  const clean = splitsRoleTokens ? splitRoleTokens : (text: string) => text
  const byOptions = conversions.get(dataBlock) ?? new Map<boolean, WeakMap<Plain, Converted>>()
  conversions.set(dataBlock, byOptions)
  const known = byOptions.get(splitsRoleTokens) ?? new WeakMap<Plain, Converted>()
  byOptions.set(splitsRoleTokens, known)
  return (item) => {
    let made = known.get(item)
    if (made === undefined) {
      const saidMs = item.type === 'message' && item.at !== undefined ? Date.parse(item.at) : null
      made = { item: toItem(item, clean, dataBlock), saidMs }
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

function isSaidToDelegate(item: Flat): boolean {
  return 'role' in item && item.type === 'message' && item.role !== 'delegate'
}

const developer = (content: string): ResponseInputItem => ({ type: 'message', role: 'developer', content })

/** Tells moments by the clock and calendar of a zone. */
function createClockReader(timezone: string): (atMs: number) => string {
  const timeZone = knownZone(timezone)
  const format = dateFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone })
  return (atMs) => format.format(atMs)
}
