import Database from 'better-sqlite3'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { type AnyEvent, createReader, type Head } from '../../ledger/reader.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { projections } from '../../projections/all.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { compareViews, replay } from '../../src/storage/replay.ts'
import type { Writer } from '../../src/storage/writer.ts'
import { openTestWriter } from '../support/writer.ts'

const tables = projections.flatMap((projection) => projection.tables)

/** Flaws of an open ledger and its views as sentences; empty if a replay gives the same views. */
export function flawsOf(
  writer: Pick<Writer, 'ledger' | 'step' | 'status'>,
  views: Database.Database,
): string[] {
  const flaws: string[] = []
  while (writer.step(1000));
  const head = writer.ledger.head()
  try {
    verifyChain(writer.ledger)
  } catch (error) {
    flaws.push(`the chain: ${String(error)}`)
  }
  const { projections: statuses, viewsError } = writer.status()
  if (viewsError !== null) flaws.push(`the views cannot be written: ${viewsError}`)
  for (const { name, seq, error } of statuses) {
    if (error !== null) flaws.push(`${name} stalled: ${error}`)
    else if (seq !== head.seq) flaws.push(`${name} is at ${seq}, the ledger at ${head.seq}`)
  }
  const replayed = new Database(':memory:')
  try {
    replay({ ledger: writer.ledger, views: replayed, projections })
    const { difference } = compareViews(replayed, views, tables)
    if (difference)
      flaws.push(
        `${difference.table}: ${JSON.stringify(difference.actual)} instead of ${JSON.stringify(difference.expected)}`,
      )
  } finally {
    replayed.close()
  }
  return flaws
}

export type Survey = { readonly flaws: string[]; readonly events: readonly AnyEvent[]; readonly head: Head }

/** Opens a directory as the next start would and checks everything in it. Throws LedgerDamaged. */
export function survey(directory: string): Survey {
  const writer = openTestWriter(directory)
  const views = openViewsReadOnly(directory)
  try {
    const flaws = flawsOf(writer, views)
    return { flaws, events: writer.ledger.readAfter(0, Number.MAX_SAFE_INTEGER), head: writer.ledger.head() }
  } finally {
    views.close()
    writer.close()
  }
}

/** The hash of an event as another connection reads it, or null. */
export function hashOf(directory: string, seq: number): string | null {
  const db = openLedgerReadOnly(directory)
  try {
    return createReader(db).hashAt(seq)
  } finally {
    db.close()
  }
}

/** The first word of each message that is not erased. */
export function firstWords(events: readonly AnyEvent[]): Set<string> {
  const texts = events.flatMap((event) =>
    event.type === 'chat.message.received' ? (event.body?.text ?? []) : [],
  )
  return new Set(texts.map((text) => text.split(' ')[0] ?? ''))
}
