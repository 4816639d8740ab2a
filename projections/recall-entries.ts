import type { Database } from 'better-sqlite3'
import { stemOf, wordsOf } from './recall-text.ts'
import { createTraits } from './recall-traits.ts'

/** Words whose stems share this many letters have the same root. */
export const ROOT_CHARACTERS = 5

/**
 * The index of recall: one entry per turn and per memory.
 *
 * - Turn ids are gapless and in order, including turns without an entry (erased, barred), so that adjacent
 *   ids are adjacent turns. A memory's id is its seq plus `FIRST_MEMORY_ID`.
 * - Terms are in a table of their own, to keep the rows that ranking reads short.
 * - `recall_removals` counts removals; a reader's cache is valid until it changes.
 * - A sitting is a run of turns in one conversation without a long pause, on any channel.
 */
export const RECALL_SCHEMA = `
  CREATE TABLE recall_entries (
    id INTEGER PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, speaker TEXT NOT NULL, atMs INTEGER NOT NULL,
    sitting INTEGER NOT NULL, traits INTEGER NOT NULL, length INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE recall_terms (id INTEGER PRIMARY KEY, terms TEXT NOT NULL) STRICT;
  CREATE TABLE recall_sittings (
    firstId INTEGER PRIMARY KEY, lastId INTEGER NOT NULL, conversationId TEXT, startMs INTEGER NOT NULL, endMs INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX recall_sittings_by_start ON recall_sittings (startMs);
  CREATE TABLE recall_removals (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
  INSERT INTO recall_removals VALUES (1, 0);
  CREATE VIRTUAL TABLE recall_index USING fts5(terms, content='recall_terms', content_rowid='id', tokenize='ascii');
  INSERT INTO recall_index(recall_index, rank) VALUES ('secure-delete', 1);`

export const RECALL_TABLES = [
  'recall_index',
  'recall_entries',
  'recall_terms',
  'recall_sittings',
  'recall_removals',
] as const

/** Ids of memories are above this, ids of turns below. */
export const FIRST_MEMORY_ID = 2 ** 40

/** A longer pause starts a new sitting. */
const SITTING_PAUSE_MS = 60 * 60_000
/** Limits the length of a sitting, so that it stays on one topic. */
const TURNS_A_SITTING = 60

export type Speaker = 'owner' | 'delegate'

export type NewEntry = {
  readonly seq: number
  readonly atMs: number
  /** Null once erased; the turn still takes an id. */
  readonly text: string | null
}

export type EntryRow = {
  readonly id: number
  readonly seq: number
  readonly speaker: Speaker
  readonly atMs: number
  /** The id of the sitting's first turn; for a memory its own id. */
  readonly sitting: number
  /** Bits of `TRAIT`. */
  readonly traits: number
  /** In index tokens. */
  readonly length: number
}

export type EntryWriter = {
  addTurn(turn: NewEntry & { readonly speaker: Speaker; readonly conversationId: string | null }): void
  /** Indexed by `flush`. */
  addMemory(memory: NewEntry): void
  /** Removes entries; ignores seqs without one. */
  remove(seqs: readonly number[]): void
  flush(): void
  discard(): void
}

type SittingRow = { firstId: number; lastId: number; conversationId: string | null; endMs: number }

/** Writes entries on the views' writing connection, inside the caller's transaction. */
export function createEntryWriter(db: Database, traitsOf = createTraits()): EntryWriter {
  const lastSitting = db.prepare<[], SittingRow>(
    'SELECT * FROM recall_sittings ORDER BY firstId DESC LIMIT 1',
  )
  const beginSitting = db.prepare(
    'INSERT INTO recall_sittings VALUES (@id, @id, @conversationId, @atMs, @atMs)',
  )
  const continueSitting = db.prepare('UPDATE recall_sittings SET lastId = ?, endMs = ? WHERE firstId = ?')
  const insertEntry = db.prepare('INSERT INTO recall_entries VALUES (?, ?, ?, ?, ?, ?, ?)')
  const keepTerms = db.prepare('INSERT INTO recall_terms VALUES (?, ?)')
  const insertTerms = db.prepare('INSERT INTO recall_index(rowid, terms) VALUES (?, ?)')
  const bySeq = db.prepare<[number], { id: number; terms: string }>(
    'SELECT id, terms FROM recall_entries JOIN recall_terms USING (id) WHERE seq = ?',
  )
  const deleteTerms = db.prepare(
    "INSERT INTO recall_index(recall_index, rowid, terms) VALUES ('delete', ?, ?)",
  )
  const deleteEntry = db.prepare('DELETE FROM recall_entries WHERE id = ?')
  const countRemoval = db.prepare('UPDATE recall_removals SET count = count + 1')
  const dropTerms = db.prepare('DELETE FROM recall_terms WHERE id = ?')

  /** Memories of the batch, indexed after its turns: FTS5 ends a segment when row ids do not ascend. */
  let unindexed: { readonly id: number; readonly terms: string }[] = []

  /** Returns the terms to index; null if there are none. */
  function add(id: number, sitting: number, speaker: Speaker, { seq, atMs, text }: NewEntry): string | null {
    const words = wordsOf(text ?? '')
    if (text === null || words.length === 0) return null
    const stems = words.map(stemOf)
    const terms = stems.join(' ')
    insertEntry.run(id, seq, speaker, atMs, sitting, traitsOf(text, words, stems), stems.length)
    keepTerms.run(id, terms)
    return terms
  }

  function indexMemories(): void {
    for (const { id, terms } of unindexed) insertTerms.run(id, terms)
    unindexed = []
  }

  /** Assigns a turn's id and sitting. */
  function place(atMs: number, conversationId: string | null): { id: number; sitting: number } {
    const last = lastSitting.get()
    const id = (last?.lastId ?? 0) + 1
    const continues =
      last !== undefined &&
      last.conversationId === conversationId &&
      atMs - last.endMs <= SITTING_PAUSE_MS &&
      id - last.firstId < TURNS_A_SITTING
    if (continues) continueSitting.run(id, atMs, last.firstId)
    else beginSitting.run({ id, conversationId, atMs })
    return { id, sitting: continues ? last.firstId : id }
  }

  return {
    addTurn(turn) {
      const { id, sitting } = place(turn.atMs, turn.conversationId)
      const terms = add(id, sitting, turn.speaker, turn)
      if (terms !== null) insertTerms.run(id, terms)
    },
    addMemory(memory) {
      const id = FIRST_MEMORY_ID + memory.seq
      const terms = add(id, id, 'owner', memory)
      if (terms !== null) unindexed.push({ id, terms })
    },
    flush: indexMemories,
    discard() {
      unindexed = []
    },
    remove(seqs) {
      indexMemories()
      countRemoval.run()
      for (const seq of seqs) {
        const entry = bySeq.get(seq)
        if (!entry) continue
        deleteTerms.run(entry.id, entry.terms)
        dropTerms.run(entry.id)
        deleteEntry.run(entry.id)
      }
    },
  }
}
