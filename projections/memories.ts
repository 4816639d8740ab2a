import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type MemoryStatus = 'active' | 'superseded' | 'contested' | 'retired' | 'deleted'

export type MemoryRow = {
  memoryId: string
  storedSeq: number
  kind: string
  status: MemoryStatus
  supersedes: string | null
  /** Null once erased. */
  text: string | null
  subject: string | null
  slot: string | null
  value: string | null
  canonicalKey: string | null
  createdAt: string
  lastReinforcedAt: string | null
  lastSurfacedAt: string | null
  reinforcements: number
}

/** Every memory as it stands, and each of its uses, from which its strength is computed when asked. */
export const memoriesProjection = defineProjection({
  name: 'memories',
  version: 1,
  tables: ['memories', 'memory_uses', 'memory_sources', 'memory_barred_sources'],
  schema: `
    CREATE TABLE memories (
      memoryId TEXT PRIMARY KEY, storedSeq INTEGER NOT NULL UNIQUE, kind TEXT NOT NULL, status TEXT NOT NULL, supersedes TEXT,
      text TEXT, subject TEXT, slot TEXT, value TEXT, canonicalKey TEXT, createdAt TEXT NOT NULL,
      lastReinforcedAt TEXT, lastSurfacedAt TEXT, reinforcements INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX memories_by_key ON memories (canonicalKey) WHERE canonicalKey IS NOT NULL;
    CREATE TABLE memory_uses (memoryId TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, PRIMARY KEY (memoryId, seq))
      WITHOUT ROWID, STRICT;
    CREATE TABLE memory_sources (memoryId TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (memoryId, seq)) WITHOUT ROWID, STRICT;
    CREATE TABLE memory_barred_sources (seq INTEGER PRIMARY KEY, memoryId TEXT NOT NULL) STRICT;`,
  fold(db) {
    const store = db.prepare(`INSERT OR IGNORE INTO memories
      (memoryId, storedSeq, kind, status, supersedes, text, subject, slot, value, canonicalKey, createdAt) VALUES
      (@memoryId, @seq, @kind, 'active', @supersedes, @text, @subject, @slot, @value, @canonicalKey, @at)`)
    const use = db.prepare('INSERT OR IGNORE INTO memory_uses VALUES (?, ?, ?)')
    const source = db.prepare('INSERT OR IGNORE INTO memory_sources VALUES (?, ?)')
    const reinforce = db.prepare(
      'UPDATE memories SET reinforcements = reinforcements + 1, lastReinforcedAt = ? WHERE memoryId = ?',
    )
    const setStatus = db.prepare("UPDATE memories SET status = ? WHERE memoryId = ? AND status <> 'deleted'")
    const surfaced = db.prepare('UPDATE memories SET lastSurfacedAt = ? WHERE memoryId = ?')
    const bar = db.prepare('INSERT OR IGNORE INTO memory_barred_sources VALUES (?, ?)')
    const erase =
      db.prepare(`UPDATE memories SET status = 'deleted', text = NULL, subject = NULL, slot = NULL, value = NULL,
      canonicalKey = NULL WHERE storedSeq = ?`)
    return {
      handlers: {
        'memory.stored': ({ seq, at, body, facts }) => {
          store.run({
            memoryId: facts.memoryId,
            seq,
            at,
            kind: facts.kind,
            supersedes: facts.supersedes,
            text: body?.text ?? null,
            subject: body?.subject ?? null,
            slot: body?.slot ?? null,
            value: body?.value ?? null,
            canonicalKey: body?.canonicalKey ?? null,
          })
          // Its `erased` fact is still to come on replay, and will find the row as it left it before.
          use.run(facts.memoryId, seq, at)
          for (const sourceSeq of facts.sourceSeqs) source.run(facts.memoryId, sourceSeq)
          if (facts.supersedes !== null) setStatus.run('superseded', facts.supersedes)
        },
        'memory.reinforced': ({ seq, at, facts }) => {
          use.run(facts.memoryId, seq, at)
          reinforce.run(at, facts.memoryId)
          for (const sourceSeq of facts.sourceSeqs) source.run(facts.memoryId, sourceSeq)
        },
        'memory.merged': ({ facts }) => void setStatus.run('superseded', facts.mergedId),
        'memory.conflicted': ({ facts }) => {
          setStatus.run('contested', facts.memoryId)
          setStatus.run('contested', facts.withId)
        },
        'memory.overridden': ({ facts }) => void setStatus.run('superseded', facts.memoryId),
        'memory.retired': ({ facts }) => void setStatus.run('retired', facts.memoryId),
        'memory.restored': ({ facts }) => void setStatus.run('active', facts.memoryId),
        'memory.deleted': ({ facts }) => {
          setStatus.run('deleted', facts.memoryId)
          for (const sourceSeq of facts.sourceSeqs) bar.run(sourceSeq, facts.memoryId)
        },
        'memory.recalled': ({ at, facts }) => {
          for (const id of facts.ids) surfaced.run(at, id)
        },
        erased: ({ facts }) => {
          for (const seq of facts.seqs) erase.run(seq)
        },
      },
    }
  },
})

/** Queries over memories, on a connection that reads the views. */
export function createMemoryQueries(views: Database) {
  const byId = views.prepare<[string], MemoryRow>(
    "SELECT * FROM memories WHERE memoryId = ? AND status <> 'deleted'",
  )
  const active = views.prepare<[number, number], MemoryRow>(
    "SELECT * FROM memories WHERE status IN ('active', 'contested') AND storedSeq < ? ORDER BY storedSeq DESC LIMIT ?",
  )
  const byKey = views.prepare<[string], MemoryRow>(
    "SELECT * FROM memories WHERE canonicalKey = ? AND status <> 'deleted'",
  )
  const bySeqs = views.prepare<[number], MemoryRow>(
    "SELECT * FROM memories WHERE storedSeq = ? AND status IN ('active', 'contested')",
  )
  const uses = views.prepare<[string], { seq: number; at: string }>(
    'SELECT seq, at FROM memory_uses WHERE memoryId = ? ORDER BY seq',
  )
  const sources = views.prepare<[string], { seq: number }>(
    'SELECT seq FROM memory_sources WHERE memoryId = ? ORDER BY seq',
  )
  const count = views.prepare<[], { count: number }>(
    "SELECT count(*) AS count FROM memories WHERE status IN ('active', 'contested')",
  )
  return {
    byId: (memoryId: string) => byId.get(memoryId),
    /** Newest first, those stored before `beforeSeq`. */
    active: (beforeSeq: number, limit: number) => active.all(beforeSeq, limit),
    byCanonicalKey: (key: string) => byKey.get(key),
    byStoredSeq: (seq: number) => bySeqs.get(seq),
    uses: (memoryId: string) => uses.all(memoryId),
    sources: (memoryId: string) => sources.all(memoryId).map(({ seq }) => seq),
    count: () => count.get()?.count ?? 0,
  }
}
