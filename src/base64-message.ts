/**
 * Messages that are the same again and again but for a piece of base64: audio on its way. Each comes fifty times a
 * second into caches that everything else has swept meanwhile, where a call into the runtime (to decode, to parse, to
 * allocate) costs ten to twenty-five microseconds and a loop over a few hundred bytes three.
 */

/** What may stand at a place that differs from message to message. */
export type PlaceKind = 'digits' | 'word' | 'base64'

/** A place is the string that belongs to a key; an optional one need not be there. */
export type Place = {
  readonly key: string
  readonly kind: PlaceKind
  readonly optional?: boolean
}

export type MessageTemplate = {
  /** Whether the message is like the learned one, but for its places. */
  fits(message: Uint8Array): boolean
  /** Where the string of a place stands in the message that just fitted: from `start` to before `end`. */
  start(place: number): number
  end(place: number): number
  /** Takes a message, valid by every rule there is for it, for the model of those to come, if it can. */
  learn(message: Buffer): void
}

const MAX_DIGITS = 12
const MAX_WORD = 200
const PAD = '='.charCodeAt(0)
/** So many in a row of which none could be read by the one before: these messages are not alike, why look on. */
const MAX_MISSES = 16

/** Of which kinds a byte is a character: a bit for each. */
const KINDS: Record<PlaceKind, number> = { digits: 1, word: 2, base64: 4 }
const KINDS_OF = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  const digits = /[0-9]/.test(character) ? KINDS.digits : 0
  const word = /[A-Za-z0-9_-]/.test(character) ? KINDS.word : 0
  return digits | word | (/[A-Za-z0-9+/]/.test(character) ? KINDS.base64 : 0)
})

/**
 * Recognises messages that differ from a valid one in nothing but the strings of these keys. Such a message is as
 * valid, and parsed to the same but for these strings: they may only consist of characters that stand for
 * themselves in a JSON string, so everything around them is read as before. Whatever else differs, be it a space or
 * the order, does not fit, and is for the full parser to judge.
 */
export function createTemplate(places: readonly Place[]): MessageTemplate {
  const starts = new Int32Array(places.length)
  const ends = new Int32Array(places.length)
  /** What stands around the places: all of it in one piece, and where in that each of the places was. */
  let around: Uint8Array | null = null
  let found: readonly { readonly place: number; readonly kind: number; readonly before: number }[] = []
  let misses = 0

  /** One loop over few and small pieces of memory, for none of them is near. */
  function fits(message: Uint8Array): boolean {
    if (around === null) return false
    const length = message.length
    let at = 0
    let known = 0
    for (let index = 0; index <= found.length; index += 1) {
      const next = found[index]
      const stop = next?.before ?? around.length
      if (at + stop - known > length) return false
      for (; known < stop; known += 1, at += 1) if (message[at] !== around[known]) return false
      if (next === undefined) break
      const start = at
      while (at < length && ((KINDS_OF[message[at] ?? 0] ?? 0) & next.kind) !== 0) at += 1
      if (next.kind === KINDS.base64) {
        if (at < length && message[at] === PAD) at += 1
        if (at < length && message[at] === PAD) at += 1
        if ((at - start) % 4 !== 0) return false
      } else if (at === start || at - start > (next.kind === KINDS.digits ? MAX_DIGITS : MAX_WORD))
        return false
      starts[next.place] = start
      ends[next.place] = at
    }
    if (at !== length) return false
    misses = 0
    return true
  }

  return {
    fits,
    start: (place) => starts[place] ?? 0,
    end: (place) => ends[place] ?? 0,
    learn(message) {
      around = null
      misses += 1
      const strings = misses > MAX_MISSES ? null : stringsOf(message, places)
      if (strings === null) return
      let cut = 0
      found = strings.map(({ place, kind, start, end }) => {
        const before = start - cut
        cut += end - start
        return { place, kind, before }
      })
      around = new Uint8Array(message.length - cut)
      let from = 0
      let to = 0
      for (const { start, end } of [...strings, { start: message.length, end: message.length }]) {
        around.set(message.subarray(from, start), to)
        to += start - from
        from = end
      }
    },
  }
}

/** Where the strings of these keys stand, in order; null where that is not beyond doubt. */
function stringsOf(message: Buffer, places: readonly Place[]) {
  const text = message.toString('latin1')
  // With neither, every quotation mark begins or ends a string, and a character is a byte.
  if (text.includes('\\') || !/^[ -~]*$/.test(text)) return null
  const strings: { place: number; kind: number; start: number; end: number }[] = []
  for (const [place, { key, kind, optional }] of places.entries()) {
    const name = `"${key}"`
    const first = text.indexOf(name)
    if (first < 0 && optional) continue
    const start = first + name.length + 2
    const end = text.indexOf('"', start)
    // Once, or it would not be known which of them counts.
    if (first < 0 || text.lastIndexOf(name) !== first || !text.startsWith(':"', start - 2) || end < 0)
      return null
    strings.push({ place, kind: KINDS[kind], start, end })
  }
  return strings.sort((a, b) => a.start - b.start)
}

export type Envelope = {
  /** The whole message. Its bytes are good until the next call, unless they were given away. */
  wrap(base64: string): Buffer
  /** Somebody still needs the last message: the next one is another. */
  giveAway(): void
}

/** Puts the same text around pieces of base64, one after the other, in the same memory while their length stays. */
export function createEnvelope(head: string, tail: string): Envelope {
  const before = Buffer.byteLength(head)
  let message: Buffer | null = null
  let length = 0
  return {
    wrap(base64) {
      if (message === null || base64.length !== length) {
        length = base64.length
        message = Buffer.allocUnsafeSlow(before + length + Buffer.byteLength(tail))
        message.write(head)
        message.write(tail, before + length)
      }
      for (let index = 0; index < length; index += 1) message[before + index] = base64.charCodeAt(index)
      return message
    },
    giveAway() {
      message = null
    },
  }
}
