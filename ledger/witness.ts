import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFile } from './files.ts'
import type { Head, LedgerReader, SeqRange } from './reader.ts'

/** An event that a file beside the ledger says was durable: the ledger must still have it. */
export type Witness = Head & {
  readonly ledgerId: string
  /** When that was, as far as the file tells. */
  readonly at: string
  /** The file's name, for people. */
  readonly file: string
}

/** What a witness knows and the ledger lacks. */
export type Loss = {
  readonly witness: Witness
  /** Where the ledger ends now. */
  readonly head: Head
  /** Null where another ledger took the place of this one: then nobody can tell which events are gone. */
  readonly missing: SeqRange | null
}

export const headFile = (directory: string): string => join(directory, 'ledger.head')

/** One sector, so that a power cut leaves the old note or the new one. */
const NOTE_BYTES = 512

const noteSchema = z.strictObject({
  ledgerId: z.string().min(1),
  seq: z.int().min(0),
  hash: z.string().length(64),
  at: z.string(),
})

/** The last event that was noted in `ledger.head`; null where there is no note that can be read. */
export function readHeadNote(directory: string): Witness | null {
  const file = headFile(directory)
  if (!existsSync(file)) return null
  try {
    return { ...noteSchema.parse(JSON.parse(readFileSync(file, 'utf8'))), file: 'ledger.head' }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return null
    throw error
  }
}

export type HeadNote = {
  /** Writes down an event that is durable. A disk that refuses leaves the older note: it says less, never too much. */
  write(head: Head, at: string): void
  close(): void
}

/**
 * Keeps the ledger's head in a file of its own, so that a log or a file that is lost is noticed. Always written after
 * the commit, so it is never ahead of it. Not synced with each event: it is there for lost files, and the file
 * outlives a killed process without that.
 */
export function openHeadNote(directory: string, ledgerId: string): HeadNote {
  const file = headFile(directory)
  makeFile(file)
  const descriptor = openSync(file, 'r+')
  const bytes = Buffer.alloc(NOTE_BYTES)
  const attempt = (work: () => void) => {
    try {
      work()
    } catch {
      // The next one that the disk takes makes up for it.
    }
  }
  return {
    write({ seq, hash }, at) {
      const length = bytes.write(JSON.stringify({ ledgerId, seq, hash, at }))
      bytes.fill(' ', length)
      attempt(() => void writeSync(descriptor, bytes, 0, NOTE_BYTES, 0))
    },
    close() {
      attempt(() => fdatasyncSync(descriptor))
      closeSync(descriptor)
    },
  }
}

/**
 * The first loss that the witnesses prove; null where the ledger has all that they know. Views that followed another
 * ledger prove nothing about this one.
 */
export function findLoss(ledger: LedgerReader, witnesses: readonly Witness[]): Loss | null {
  const id = ledger.id()
  const head = ledger.head()
  const lost = witnesses
    .filter(({ seq, ledgerId, file }) => seq > 0 && (ledgerId === id || file === 'ledger.head'))
    .filter(({ seq, hash, ledgerId }) => ledgerId !== id || ledger.hashAt(seq) !== hash)
    .sort((left, right) => right.seq - left.seq)
  const [witness] = lost
  if (!witness) return null
  const isBehind = witness.ledgerId === id && witness.seq > head.seq
  return { witness, head, missing: isBehind ? { firstSeq: head.seq + 1, lastSeq: witness.seq } : null }
}

/** What is lost, in one or two sentences. */
export function describeLoss({ witness, head, missing }: Loss): string {
  const known = `${witness.file} knew event ${witness.seq} at ${witness.at}`
  if (missing === null)
    return (
      `the ledger is another or an older one than the service had here: ${known}, and that event is not in it. ` +
      'How many events are missing cannot be told'
    )
  const { firstSeq, lastSeq } = missing
  const count = lastSeq - firstSeq + 1
  const which =
    count === 1 ? `event is missing (seq ${firstSeq})` : `events are missing (seq ${firstSeq} to ${lastSeq})`
  return `${count} ${which}: ${known}, and the ledger ends with event ${head.seq}`
}

/** What the operator can do about a loss. */
export const LOSS_REMEDY =
  'Nothing was changed. Put back the ledger.sqlite-wal or ledger.sqlite that was moved, deleted or replaced; or restore ' +
  'a backup into another directory; or, to go on without these events, run npm run ledger:accept-loss'
