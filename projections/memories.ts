import { createMemoryFold } from './memory-fold.ts'
import { defineProjection } from './projection.ts'

/** Memories and their uses. A memory's strength is computed from its uses on demand. */
export const memoriesProjection = defineProjection({
  name: 'memories',
  version: 8,
  tables: [
    'memories',
    'memory_uses',
    'memory_sources',
    'memory_contests',
    'memory_outcomes',
    'memory_barred_sources',
    'memory_events',
  ],
  schema: `
    CREATE TABLE memories (
      storedSeq INTEGER PRIMARY KEY, memoryId TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, status TEXT NOT NULL,
      supersedes TEXT, supersededBy TEXT, linkedTo TEXT, singleValued INTEGER NOT NULL, learnedBy TEXT NOT NULL,
      byHand INTEGER NOT NULL, pinnedSeq INTEGER,
      eventTime TEXT, validFrom TEXT NOT NULL, validUntil TEXT, statedUntil TEXT,
      text TEXT, subject TEXT, slot TEXT, value TEXT, quote TEXT, canonicalKey TEXT, slotKey TEXT, statementKey TEXT,
      createdAt TEXT NOT NULL, lastReinforcedAt TEXT, lastSurfacedAt TEXT, reinforcements INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX memories_by_key ON memories (canonicalKey) WHERE canonicalKey IS NOT NULL;
    CREATE INDEX memories_by_slot ON memories (slotKey) WHERE slotKey <> '';
    CREATE INDEX memories_by_statement ON memories (statementKey) WHERE statementKey <> '';
    CREATE INDEX memories_current ON memories (storedSeq) WHERE status IN ('active', 'contested', 'provisional');
    CREATE INDEX memories_by_kind ON memories (kind, status);
    CREATE INDEX memories_single ON memories (storedSeq) WHERE singleValued = 1 AND status IN ('active', 'contested', 'provisional');
    CREATE INDEX memories_ending ON memories (validUntil) WHERE validUntil IS NOT NULL AND status IN ('active', 'contested', 'provisional');
    CREATE INDEX memories_pinned ON memories (pinnedSeq) WHERE pinnedSeq IS NOT NULL;
    CREATE INDEX memories_successors ON memories (supersedes) WHERE supersedes IS NOT NULL;
    CREATE INDEX memories_predecessors ON memories (supersededBy) WHERE supersededBy IS NOT NULL;
    CREATE TABLE memory_uses (memoryId TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, use TEXT NOT NULL,
      PRIMARY KEY (memoryId, seq)) WITHOUT ROWID, STRICT;
    CREATE TABLE memory_sources (memoryId TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (memoryId, seq)) WITHOUT ROWID, STRICT;
    CREATE INDEX memory_sources_by_seq ON memory_sources (seq);
    CREATE TABLE memory_contests (memoryId TEXT NOT NULL, withId TEXT NOT NULL, PRIMARY KEY (memoryId, withId)) WITHOUT ROWID, STRICT;
    CREATE TABLE memory_outcomes (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, memoryId TEXT NOT NULL, otherId TEXT NOT NULL) STRICT;
    CREATE TABLE memory_barred_sources (seq INTEGER NOT NULL, causeId TEXT NOT NULL, PRIMARY KEY (seq, causeId))
      WITHOUT ROWID, STRICT;
    CREATE INDEX memory_barred_by_cause ON memory_barred_sources (causeId);
    CREATE TABLE memory_events (seq INTEGER PRIMARY KEY) STRICT;`,
  fold: createMemoryFold,
})
