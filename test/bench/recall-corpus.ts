import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { newSalt, toDraft } from '../../ledger/codec.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createIds } from '../../ledger/ids.ts'
import { createReader, type LedgerReader } from '../../ledger/reader.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { openWriter } from '../../src/storage/writer.ts'
import type { Turn } from './recall-data.ts'

/** A dialogue as the product stores it: facts in a ledger, folded into views. */
export type Corpus = {
  readonly ledger: LedgerReader
  readonly views: Database.Database
  /** The seq of each turn, in order. */
  readonly seqs: readonly number[]
  close(): void
}

const EVENTS_A_STEP = 5000
const SESSIONS_A_COMMIT = 50

/**
 * Records a dialogue: each session becomes a conversation with one interaction. The first speaker is the
 * owner in the chat, the other the delegate. Returns once the views have caught up.
 */
export function buildCorpus(turns: readonly Turn[], owner: string): Corpus {
  const directory = mkdtempSync(join(tmpdir(), 'delegate-bench-recall-'))
  const newId = createIds(Date.now)
  const writer = openWriter({ directory, newId, warn: (message, fields) => console.warn(message, fields) })
  const seqs: number[] = []
  const sessions = sessionsOf(turns)
  for (let start = 0; start < sessions.length; start += SESSIONS_A_COMMIT) {
    const batches = sessions
      .slice(start, start + SESSIONS_A_COMMIT)
      .map((session) =>
        factsOf(session, owner, newId).map(({ at, event }) => toDraft(event, { newId, newSalt, at })),
      )
    for (const outcome of writer.commit(batches)) {
      if (outcome.status !== 'appended') throw new Error(`a session was not appended: ${outcome.status}`)
      for (const row of outcome.rows) if (row.type.startsWith('chat.')) seqs.push(row.seq)
    }
  }
  while (writer.step(EVENTS_A_STEP));
  const stalled = writer.status().projections.filter(({ error }) => error !== null)
  if (stalled.length > 0) throw new Error(`stalled: ${JSON.stringify(stalled)}`)
  writer.close()

  const ledgerDb = openLedgerReadOnly(directory)
  const views = openViewsReadOnly(directory)
  return {
    ledger: createReader(ledgerDb),
    views,
    seqs,
    close() {
      views.close()
      ledgerDb.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function sessionsOf(turns: readonly Turn[]): Turn[][] {
  const sessions: Turn[][] = []
  for (const turn of turns) {
    const last = sessions.at(-1)
    if (last?.[0] && last[0].session === turn.session) last.push(turn)
    else sessions.push([turn])
  }
  return sessions
}

function factsOf(
  session: readonly Turn[],
  owner: string,
  newId: () => string,
): { at: string; event: NewEvent }[] {
  const conversationId = newId()
  const place = { channel: 'chat', conversationId } as const
  const inSpan = { ...place, spanId: newId() }
  const firstAt = session[0]?.at ?? ''
  const lastAt = session.at(-1)?.at ?? ''
  return [
    { at: firstAt, event: { type: 'conversation.started', actor: 'service', ...place, facts: {} } },
    {
      at: firstAt,
      event: { type: 'span.opened', actor: 'service', ...inSpan, facts: { kind: 'interaction' } },
    },
    ...session.map(({ at, speaker, text }): { at: string; event: NewEvent } => ({
      at,
      event:
        speaker === owner
          ? { type: 'chat.message.received', actor: 'owner', ...inSpan, facts: {}, body: { text } }
          : { type: 'chat.reply.sent', actor: 'delegate', ...inSpan, facts: {}, body: { text } },
    })),
    { at: lastAt, event: { type: 'span.closed', actor: 'service', ...inSpan, facts: { reason: 'idle' } } },
    {
      at: lastAt,
      event: { type: 'conversation.ended', actor: 'owner', ...place, facts: { reason: 'owner' } },
    },
  ]
}
