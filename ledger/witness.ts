import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { LedgerDamaged } from './errors.ts'
import { makeFile } from './files.ts'
import type { Head, LedgerReader, SeqRange } from './reader.ts'

/** An event that a file beside the ledger recorded as durable; the ledger must still have it. */
export type Witness = Head & {
  readonly ledgerId: string
  /** The time of that event, if the file has it. */
  readonly at: string
  readonly file: string
}

/** Events that a witness knows and the ledger lacks. */
export type Loss = {
  readonly witness: Witness
  /** The ledger's present head. */
  readonly head: Head
  /** Null if another ledger replaced this one, so the missing events are unknown. */
  readonly missing: SeqRange | null
}

export const headFile = (directory: string): string => join(directory, 'ledger.head')

/** One sector, so that a power cut leaves either the old or the new note. */
const NOTE_BYTES = 512

const noteSchema = z.strictObject({
  ledgerId: z.string().min(1),
  seq: z.int().min(0),
  hash: z.string().length(64),
  at: z.string(),
})

/** The event recorded in `ledger.head`; null if there is no readable note. */
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
  /** Records a durable event. On a disk error the older note remains, which is still true. */
  write(head: Head, at: string): void
  close(): void
}

/**
 * Keeps the ledger's head in a separate file, so that a lost ledger or log is detected. Written after the
 * commit, so it is never ahead of the ledger, except of a copy after a power cut. Not synced per event: it guards
 * against lost files, not power cuts.
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
      // The next successful write supersedes it.
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
 * The greatest loss that the witnesses prove; null if the ledger has every event they know. Views of another
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

/** Describes a loss in one or two sentences. */
export function describeLoss({ witness, head, missing }: Loss): string {
  const known = `${witness.file} recorded event ${witness.seq} at ${witness.at}`
  if (missing === null)
    return (
      `the ledger is a different or an older one than the service had here: ${known}, and the ledger lacks it. ` +
      'The number of missing events is unknown'
    )
  const { firstSeq, lastSeq } = missing
  const count = lastSeq - firstSeq + 1
  const which =
    count === 1 ? `event is missing (seq ${firstSeq})` : `events are missing (seq ${firstSeq} to ${lastSeq})`
  return `${count} ${which}: ${known}, but the ledger ends with event ${head.seq}`
}

/** Tells the operator how to recover from a loss. */
export const LOSS_REMEDY =
  'Nothing was changed. Put back the ledger.sqlite-wal or ledger.sqlite that was moved, deleted or replaced; or restore ' +
  'a backup into another directory; or, to continue without these events, run npm run ledger:accept-loss'

/** Throws LedgerDamaged if the ledger lacks events that the witnesses know. */
export function requireWitnessed(ledger: LedgerReader, witnesses: readonly Witness[]): void {
  const loss = findLoss(ledger, witnesses)
  if (!loss) return
  const isEndOfCopy = ledger.meta('engine') === 'commit' && loss.missing !== null
  const remedy = isEndOfCopy
    ? '. The database that commits first has them: start Delegate, then try again'
    : ''
  throw new LedgerDamaged(`${describeLoss(loss)}${remedy}`, { seq: loss.missing?.firstSeq ?? null })
}
