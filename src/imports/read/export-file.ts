import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { streamArray } from 'stream-json/streamers/stream-array.js'
import { streamValues } from 'stream-json/streamers/stream-values.js'
import { type Entry, openPromise } from 'yauzl'
import { conversationOf, type ReadConversation } from './conversations.ts'

/** A file that cannot be read as an export. */
export class UnreadableExport extends Error {
  override readonly name = 'UnreadableExport'
  readonly reason: 'unreadable' | 'too_large'

  constructor(reason: UnreadableExport['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Of the texts in a zip, unpacked: ten times the largest exports that people report. A bomb has more. */
const MAX_UNPACKED_BYTES = 8 * 1024 ** 3

/** `conversations.json`, `conversations-000.json`, and `conversations/<id>.json`. */
const CONVERSATIONS = /(?:^|\/)conversations(?:[-_]\d+)?(?:\.json|\/[^/]+\.json)$/i

/**
 * The conversations of an export, one at a time: of a zip, or of a JSON file with a list of them or with a single one.
 * Null stands for an entry that is no conversation. No message is later than `nowMs`. Nothing is unpacked to the disk.
 * Throws UnreadableExport.
 */
export async function* conversationsIn(
  file: string,
  nowMs: number,
  maxUnpackedBytes = MAX_UNPACKED_BYTES,
): AsyncGenerator<ReadConversation | null> {
  try {
    const texts = (await isZip(file)) ? textsInZip(file, maxUnpackedBytes) : [createReadStream(file)]
    for await (const text of texts)
      for await (const value of valuesIn(text)) yield conversationOf(value, nowMs)
  } catch (cause) {
    if (cause instanceof UnreadableExport) throw cause
    throw new UnreadableExport('unreadable', 'the file is no export, or it is damaged', { cause })
  }
}

/** Whether a file begins as a zip does. */
export async function isZip(file: string): Promise<boolean> {
  await using handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0)
  return buffer.toString('latin1') === 'PK\u0003\u0004'
}

/** The library refuses names that lead elsewhere, and entries that are larger than they claim. */
async function* textsInZip(file: string, maxBytes: number): AsyncGenerator<Readable> {
  const zip = await openPromise(file, { autoClose: false })
  try {
    const entries: Entry[] = []
    for await (const entry of zip.eachEntry()) if (CONVERSATIONS.test(entry.fileName)) entries.push(entry)
    const bytes = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
    if (bytes > maxBytes)
      throw new UnreadableExport('too_large', `the conversations take ${bytes} bytes unpacked`)
    for (const entry of entries) yield await zip.openReadStreamPromise(entry)
  } finally {
    zip.close()
  }
}

/** The values of a list, or the single value, of a JSON text. */
async function* valuesIn(text: Readable): AsyncGenerator<unknown> {
  const chunks: AsyncIterator<Buffer> = text[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done) return
  const isList = /^[\uFEFF\s]*\[/.test(first.value.toString('utf8', 0, 1024))
  const parse = isList
    ? streamArray.withParserAsStream()
    : streamValues.withParserAsStream({ jsonStreaming: true })
  const all = async function* () {
    yield first.value
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  // Errors end the loop below.
  pipeline(Readable.from(all()), parse, () => undefined)
  for await (const { value } of parse) yield value
}
