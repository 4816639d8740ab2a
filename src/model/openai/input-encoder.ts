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
  /** Of its JSON, in the bytes. */
  readonly length: number
}

/** The last request's context, and what is kept of it: bytes, and the beginnings that they can be cut back to. */
type Last = {
  readonly input: readonly InputItem[]
  readonly timezone: string
  readonly self: ModelId | null
  readonly marks: readonly Kept[]
  readonly bytes: Buffer
}

const NOTHING_KEPT: Kept = { count: 0, before: NOTHING_BEFORE, length: 0 }
const NO_BYTES = Buffer.allocUnsafeSlow(0)
/** The rounds of one turn have more in common than it has with the next turn: of so many beginnings the ends are known. */
const MAX_MARKS = 16
/** What nobody asked for in so long is let go: it is memory, and may be words that were forgotten since. */
const KEPT_MS = 60_000

/**
 * Encodes the contexts of requests that follow each other, exactly as `toResponsesInput` has them. Each begins as the one
 * before did, and grows: what two in a row have in common is kept as the bytes that go out, so that a request costs
 * what is new in it. An item is the same where it is the same object. Where a context begins otherwise, what was kept is
 * cut back; where it is sent for another zone or with other opaque items, it is dropped. What is handed out stays as it is.
 */
export function createInputEncoder(
  options: Omit<InputOptions, 'self'>,
): (request: ContextRequest, self: ModelId | null) => EncodedInput {
  let last: Last | null = null
  let release: NodeJS.Timeout | undefined

  function keep(next: Last): void {
    last = next
    if (release) release.refresh()
    else {
      release = setTimeout(() => {
        last = null
        release = undefined
      }, KEPT_MS).unref()
    }
  }

  return (request, self) => {
    const { input, timezone } = request
    const known = last?.self === self && last.timezone === timezone ? last : null
    // The present is told before what was said last: from there on each request has words of its own.
    const end = Math.max(0, Math.min(countCommon(known?.input ?? [], input), findLastSaid(input, self)))
    const marks = known?.marks.filter(({ count }) => count <= end) ?? []
    const from = marks.at(-1) ?? NOTHING_KEPT
    let kept = from
    let bytes = known?.bytes ?? NO_BYTES
    if (end > from.count) {
      const more = { timezone, input: input.slice(from.count, end) }
      const settled = settleInput(more, { ...options, self }, from.before)
      if (settled.count > 0) {
        const added = toJsonItems(settled.items)
        bytes = joined(bytes, from.length, from.length === 0 || added === '' ? added : `,${added}`)
        kept = { count: from.count + settled.count, before: settled.before, length: bytes.length }
        marks.push(kept)
      }
    }
    keep({ input, timezone, self, marks: marks.slice(-MAX_MARKS), bytes })
    const rest = { ...request, input: input.slice(kept.count) }
    const items = toResponsesInput(rest, { ...options, self }, kept.before)
    return { kept: bytes.subarray(0, kept.length), rest: toJsonItems(items) }
  }
}

function countCommon(a: readonly InputItem[], b: readonly InputItem[]): number {
  let count = 0
  while (count < a.length && a[count] === b[count]) count += 1
  return count
}

/**
 * The first so many bytes, and the text. Behind all of the bytes, which have their memory to themselves, there may be room
 * for it; where it takes the place of some, they are copied, for somebody may hold them still.
 */
function joined(bytes: Buffer, from: number, added: string): Buffer {
  const length = from + Buffer.byteLength(added)
  const hasRoom = from === bytes.length && length <= bytes.buffer.byteLength
  const whole = hasRoom ? Buffer.from(bytes.buffer, 0, length) : grown(bytes.subarray(0, from), length)
  whole.write(added, from)
  return whole
}

/** Twice as long as is needed, so that what is kept is copied seldom; never of the pool that small buffers share. */
function grown(bytes: Buffer, length: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(2 * length)
  bytes.copy(larger)
  return larger.subarray(0, length)
}
