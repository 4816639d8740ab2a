import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { createEntryWriter, RECALL_SCHEMA, type Speaker } from '../../../projections/recall-entries.ts'
import { createRecallRanker, type RecallRequest } from '../../../src/memory/recall/ranker.ts'

export type Said = {
  readonly text: string | null
  readonly speaker?: Speaker
  readonly at?: string
  readonly conversationId?: string
}

const NOON = Date.UTC(2026, 5, 15, 12)

/** An index in memory or in a file, with helpers that number the utterances. */
export function openIndex(file = ':memory:') {
  const db = new Database(file)
  onTestFinished(() => void db.close())
  db.pragma('journal_mode = WAL')
  db.pragma('secure_delete = ON')
  db.exec(RECALL_SCHEMA)
  const entries = createEntryWriter(db)
  let lastSeq = 0
  const inTransaction = <T>(work: () => T): T => db.transaction(work)()
  return {
    db,
    entries,
    /** Returns the seqs of the utterances. */
    say: (...said: readonly (string | Said)[]): number[] =>
      inTransaction(() => {
        const seqs = said.map((each) => {
          const {
            text,
            speaker = 'owner',
            at,
            conversationId = 'c',
          } = typeof each === 'string' ? { text: each } : each
          const atMs = at === undefined ? NOON + lastSeq * 1000 : Date.parse(at)
          lastSeq += 1
          entries.addTurn({ seq: lastSeq, atMs, speaker, conversationId, text })
          return lastSeq
        })
        entries.flush()
        return seqs
      }),
    remember: (text: string): number =>
      inTransaction(() => {
        lastSeq += 1
        entries.addMemory({ seq: lastSeq, atMs: NOON, text })
        entries.flush()
        return lastSeq
      }),
    remove: (...seqs: readonly number[]) => inTransaction(() => entries.remove(seqs)),
    ranker: () => createRecallRanker({ views: db }),
  }
}

export type TestIndex = ReturnType<typeof openIndex>

export function ask(text: string, more: Partial<RecallRequest> = {}): RecallRequest {
  return {
    text,
    asker: 'owner',
    nowMs: NOON + 86_400_000,
    timezone: 'UTC',
    isRead: false,
    names: { owner: ['Anna'], delegate: ['Del'] },
    beforeSeq: Number.MAX_SAFE_INTEGER,
    excludedSeqs: new Set(),
    ...more,
  }
}
