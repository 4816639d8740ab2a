import type { Database } from 'better-sqlite3'
import { stemOf, wordsOf } from './recall-text.ts'
import { traitsOf } from './recall-traits.ts'
import { STOP_WORDS } from './stop-words.ts'

/** Words whose stems share this many letters have the same root. */
export const ROOT_CHARACTERS = 5

/**
 * The index of recall: one entry per turn and per memory.
 *
 * - Turn ids are gapless and in order, including turns without an entry (erased, barred), so that adjacent
 *   ids are adjacent turns. A memory's id is its seq plus `FIRST_MEMORY_ID`.
 * - `recall_barred` holds the entries that the owner may keep after all.
 * - `recall_removals` counts changes other than additions at the end; vectors are pruned when it changes.
 * - A sitting is a run of turns in one conversation without a long pause, on any channel.
 */
export const RECALL_SCHEMA = `
  CREATE TABLE recall_entries (
    id INTEGER PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, speaker TEXT NOT NULL, atMs INTEGER NOT NULL,
    sitting INTEGER NOT NULL, traits INTEGER NOT NULL, length INTEGER NOT NULL
  ) STRICT;
  DROP TABLE IF EXISTS recall_terms;
  CREATE TABLE recall_sittings (
    firstId INTEGER PRIMARY KEY, lastId INTEGER NOT NULL, conversationId TEXT, startMs INTEGER NOT NULL, endMs INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX recall_sittings_by_start ON recall_sittings (startMs);
  CREATE TABLE recall_barred (
    id INTEGER NOT NULL, seq INTEGER PRIMARY KEY, speaker TEXT NOT NULL, atMs INTEGER NOT NULL,
    sitting INTEGER NOT NULL, traits INTEGER NOT NULL, length INTEGER NOT NULL, terms TEXT NOT NULL
  ) STRICT;
  CREATE TABLE recall_removals (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
  INSERT INTO recall_removals VALUES (1, 0);
  CREATE VIRTUAL TABLE recall_index USING fts5(terms, columnsize=0, tokenize='ascii');
  INSERT INTO recall_index(recall_index, rank) VALUES ('secure-delete', 1);`

export const RECALL_TABLES = [
  'recall_index',
  'recall_entries',
  'recall_sittings',
  'recall_barred',
  'recall_removals',
] as const

/** Ids of memories are above this, ids of turns below. */
export const FIRST_MEMORY_ID = 2 ** 40

/** A longer pause starts a new sitting. */
const SITTING_PAUSE_MS = 60 * 60_000
/** About a megabyte. */
const MAX_STEMS = 10_000
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

type Sitting = {
  readonly firstId: number
  lastId: number
  readonly conversationId: string | null
  readonly startMs: number
  endMs: number
}

/** Whether a reply has no more than one word to find it by: "Noted.", "All right, I will." */
const sayNothing = (words: readonly string[]) => words.filter((word) => !STOP_WORDS.has(word)).length < 2

/** Writes entries on the views' writing connection, inside the caller's transaction. */
export function createEntryWriter(db: Database) {
  const lastSitting = db.prepare<[], Sitting>('SELECT * FROM recall_sittings ORDER BY firstId DESC LIMIT 1')
  // INSERT OR REPLACE opens a savepoint, at which FTS5 writes a segment.
  const saveSitting = db.prepare(`INSERT INTO recall_sittings
    VALUES (@firstId, @lastId, @conversationId, @startMs, @endMs)
    ON CONFLICT DO UPDATE SET lastId = excluded.lastId, endMs = excluded.endMs`)
  const insertEntry = db.prepare('INSERT INTO recall_entries VALUES (?, ?, ?, ?, ?, ?, ?)')
  const insertTerms = db.prepare('INSERT INTO recall_index(rowid, terms) VALUES (?, ?)')
  const bySeq = db.prepare<[number], { id: number }>('SELECT id FROM recall_entries WHERE seq = ?')
  const deleteTerms = db.prepare('DELETE FROM recall_index WHERE rowid = ?')
  const deleteEntry = db.prepare('DELETE FROM recall_entries WHERE id = ?')
  const saveBarred = db.prepare(`INSERT INTO recall_barred SELECT recall_entries.*, terms
    FROM recall_entries JOIN recall_index ON recall_index.rowid = id WHERE seq = ?`)
  const restoreTerms = db.prepare(
    'INSERT INTO recall_index(rowid, terms) SELECT id, terms FROM recall_barred WHERE seq = ?',
  )
  const restoreEntry = db.prepare(`INSERT INTO recall_entries
    SELECT id, seq, speaker, atMs, sitting, traits, length FROM recall_barred WHERE seq = ?`)
  const deleteBarred = db.prepare('DELETE FROM recall_barred WHERE seq = ?')
  const countRemoval = db.prepare('UPDATE recall_removals SET count = count + 1')

  /** The stems of recent words: most words are common ones. */
  const stems = new Map<string, string>()
  function stem(word: string): string {
    const known = stems.get(word)
    if (known !== undefined) return known
    const found = stemOf(word)
    stems.set(word, found)
    return found
  }

  /** The last sitting, once the batch has a turn. Saved when it or the batch ends. */
  let sitting: Sitting | undefined

  /** Memories of the batch, indexed after its turns: FTS5 ends a segment when row ids do not ascend. */
  let unindexed: { readonly id: number; readonly terms: string }[] = []

  /** Returns the terms to index; null if there are none. */
  function add(id: number, sitting: number, speaker: Speaker, { seq, atMs, text }: NewEntry): string | null {
    const words = wordsOf(text ?? '')
    if (text === null || words.length === 0 || (speaker === 'delegate' && sayNothing(words))) return null
    const tokens = words.map(stem)
    const terms = tokens.join(' ')
    insertEntry.run(id, seq, speaker, atMs, sitting, traitsOf(text, words, tokens), tokens.length)
    return terms
  }

  function indexMemories(): void {
    for (const { id, terms } of unindexed) insertTerms.run(id, terms)
    unindexed = []
  }

  /** Assigns a turn's id and sitting. */
  function place(atMs: number, conversationId: string | null): Sitting {
    sitting ??= lastSitting.get()
    const id = (sitting?.lastId ?? 0) + 1
    const continues =
      sitting?.conversationId === conversationId &&
      atMs - sitting.endMs <= SITTING_PAUSE_MS &&
      id - sitting.firstId < TURNS_A_SITTING
    if (sitting && continues) {
      sitting.lastId = id
      sitting.endMs = atMs
    } else {
      if (sitting) saveSitting.run(sitting)
      sitting = { firstId: id, lastId: id, conversationId, startMs: atMs, endMs: atMs }
    }
    return sitting
  }

  function takeOut(seq: number): void {
    const entry = bySeq.get(seq)
    if (!entry) return
    deleteTerms.run(entry.id)
    deleteEntry.run(entry.id)
  }

  return {
    addTurn(turn: NewEntry & { readonly speaker: Speaker; readonly conversationId: string | null }): void {
      const { firstId, lastId: id } = place(turn.atMs, turn.conversationId)
      const terms = add(id, firstId, turn.speaker, turn)
      if (terms !== null) insertTerms.run(id, terms)
    },
    /** Indexed by `flush`. */
    addMemory(memory: NewEntry): void {
      const id = FIRST_MEMORY_ID + memory.seq
      const terms = add(id, id, 'owner', memory)
      if (terms !== null) unindexed.push({ id, terms })
    },
    flush(): void {
      indexMemories()
      if (sitting) saveSitting.run(sitting)
      sitting = undefined
      if (stems.size > MAX_STEMS) stems.clear()
    },
    discard(): void {
      unindexed = []
      sitting = undefined
    },
    /** Removes entries; ignores seqs without one. */
    remove(seqs: readonly number[]): void {
      indexMemories()
      countRemoval.run()
      for (const seq of seqs) {
        takeOut(seq)
        deleteBarred.run(seq)
      }
    },
    /** Removes entries until `unbar`; ignores seqs without one. */
    bar(seqs: readonly number[]): void {
      indexMemories()
      countRemoval.run()
      for (const seq of seqs) {
        saveBarred.run(seq)
        takeOut(seq)
      }
    },
    /** Puts barred entries back in their place, unless they were removed since. */
    unbar(seqs: readonly number[]): void {
      countRemoval.run()
      for (const seq of seqs)
        for (const statement of [restoreTerms, restoreEntry, deleteBarred]) statement.run(seq)
    },
  }
}
