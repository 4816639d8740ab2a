import type { InputItem, ModelId, TextRequest } from '../port.ts'
import {
  type Before,
  findLastSaid,
  type InputOptions,
  NOTHING_BEFORE,
  settleInput,
  toResponsesInput,
} from './input.ts'
import { type EncodedInput, toJsonItems } from './request-body.ts'

type ContextRequest = Pick<TextRequest, 'input' | 'now' | 'timezone'>

/** A beginning that was encoded. */
type Kept = {
  /** How many items of the input it is. */
  readonly count: number
  readonly before: Before
  readonly bytes: Buffer
}

const NOTHING_KEPT: Kept = { count: 0, before: NOTHING_BEFORE, bytes: Buffer.allocUnsafeSlow(0) }

/**
 * Encodes the contexts of requests that follow each other, exactly as `toResponsesInput` has them. Each begins as the one
 * before did, and grows: what two in a row have in common is kept as the bytes that go out, so that a request costs
 * what is new in it. An item is the same where it is the same object. Where a context begins otherwise, or is sent for
 * another zone or with other opaque items, what was kept is dropped.
 */
export function createInputEncoder(
  options: Omit<InputOptions, 'self'>,
): (request: ContextRequest, self: ModelId | null) => EncodedInput {
  let last: { readonly request: ContextRequest; readonly self: ModelId | null; readonly kept: Kept } | null =
    null

  return (request, self) => {
    const { input, timezone } = request
    const known = last?.self === self && last.request.timezone === timezone ? last : null
    // The present is told before what was said last: from there on each request has words of its own.
    const end = Math.min(countCommon(known?.request.input ?? [], input), findLastSaid(input, self))
    const from = known && known.kept.count <= end ? known.kept : NOTHING_KEPT
    const kept = keepOn(from, { timezone, input: input.slice(from.count, Math.max(end, 0)) }, self)
    last = { request, self, kept }
    const rest = { ...request, input: input.slice(kept.count) }
    const items = toResponsesInput(rest, { ...options, self }, kept.before)
    return { kept: kept.bytes, rest: toJsonItems(items) }
  }

  function keepOn(from: Kept, more: Pick<ContextRequest, 'input' | 'timezone'>, self: ModelId | null): Kept {
    if (more.input.length === 0) return from
    const { items, count, before } = settleInput(more, { ...options, self }, from.before)
    return { count: from.count + count, before, bytes: joined(from.bytes, toJsonItems(items)) }
  }
}

function countCommon(a: readonly InputItem[], b: readonly InputItem[]): number {
  let count = 0
  while (count < a.length && a[count] === b[count]) count += 1
  return count
}

/** The items of both. Behind the bytes of the first, which have their memory to themselves, there may be room for the others. */
function joined(bytes: Buffer, text: string): Buffer {
  if (text === '') return bytes
  const added = bytes.length === 0 ? text : `,${text}`
  const length = bytes.length + Buffer.byteLength(added)
  const whole =
    length <= bytes.buffer.byteLength ? Buffer.from(bytes.buffer, 0, length) : grown(bytes, length)
  whole.write(added, bytes.length)
  return whole
}

/** Twice as long as is needed, so that what is kept is copied seldom; never of the pool that small buffers share. */
function grown(bytes: Buffer, length: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(2 * length)
  bytes.copy(larger)
  return larger.subarray(0, length)
}
