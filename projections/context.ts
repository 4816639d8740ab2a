import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type ContextRow = {
  conversationId: string
  /** Completed turns. `channel` and the tokens are those of the last one. */
  completedTurns: number
  channel: string | null
  contextTokens: number
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  compactThresholdTokens: number | null
  usageAt: string | null
  /** Reply tokens since the last capsule was written or failed. */
  tokensSinceCapsule: number
  /** The compaction in progress, if any. */
  compactionId: string | null
  compactionSource: string | null
  compactionSeq: number | null
  /** Failed compactions since the last success. */
  failures: number
  lastFailureKind: string | null
  lastFailureAt: string | null
}

export type CompactionRow = {
  seq: number
  conversationId: string
  throughSeq: number
  at: string
  channel: string | null
  source: 'manual' | 'automatic'
  inputTokensBefore: number
  inputTokensAfter: number
  provider: string
  model: string
  compactionId: string
  consumed: number
  erased: number
  /** Input tokens of the first turn built on it; null before that turn. */
  firstTurnTokens: number | null
}

export type CapsuleRow = {
  seq: number
  conversationId: string
  throughSeq: number
  at: string
  source: string
  erased: number
}

/** Value of `erased` for hidden rows. */
const HIDDEN = 2

/** Each conversation's chain: its usage, replacements and capsules. */
export const contextProjection = defineProjection({
  name: 'context',
  version: 7,
  tables: ['context_chains', 'context_compactions', 'context_capsules', 'context_kept', 'context_erasures'],
  schema: `
    CREATE TABLE context_chains (
      conversationId TEXT PRIMARY KEY, completedTurns INTEGER NOT NULL DEFAULT 0, channel TEXT,
      contextTokens INTEGER NOT NULL DEFAULT 0, inputTokens INTEGER NOT NULL DEFAULT 0,
      outputTokens INTEGER NOT NULL DEFAULT 0, cachedTokens INTEGER NOT NULL DEFAULT 0,
      compactThresholdTokens INTEGER, usageAt TEXT, tokensSinceCapsule INTEGER NOT NULL DEFAULT 0,
      compactionId TEXT, compactionSource TEXT, compactionSeq INTEGER,
      failures INTEGER NOT NULL DEFAULT 0, lastFailureKind TEXT, lastFailureAt TEXT
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE context_compactions (
      seq INTEGER PRIMARY KEY, conversationId TEXT NOT NULL, throughSeq INTEGER NOT NULL, at TEXT NOT NULL, channel TEXT,
      source TEXT NOT NULL, inputTokensBefore INTEGER NOT NULL, inputTokensAfter INTEGER NOT NULL,
      provider TEXT NOT NULL, model TEXT NOT NULL, compactionId TEXT NOT NULL,
      consumed INTEGER NOT NULL DEFAULT 0, erased INTEGER NOT NULL DEFAULT 0, firstTurnTokens INTEGER
    ) STRICT;
    CREATE INDEX context_compactions_by_conversation ON context_compactions (conversationId, seq);
    CREATE TABLE context_capsules (
      seq INTEGER PRIMARY KEY, conversationId TEXT NOT NULL, throughSeq INTEGER NOT NULL, at TEXT NOT NULL,
      source TEXT NOT NULL, erased INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX context_capsules_by_conversation ON context_capsules (conversationId, seq);
    CREATE TABLE context_kept (seq INTEGER PRIMARY KEY, conversationId TEXT) STRICT;
    CREATE TABLE context_erasures (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL) STRICT;`,
  fold(db) {
    const begin = db.prepare('INSERT OR IGNORE INTO context_chains (conversationId) VALUES (?)')
    const complete = db.prepare(`UPDATE context_chains SET completedTurns = completedTurns + 1, channel = ?,
      contextTokens = coalesce(nullif(?, 0), contextTokens), tokensSinceCapsule = tokensSinceCapsule + ?
      WHERE conversationId = ?`)
    const record =
      db.prepare(`UPDATE context_chains SET inputTokens = @inputTokens, outputTokens = @outputTokens,
      cachedTokens = @cachedTokens, compactThresholdTokens = @compactThresholdTokens, usageAt = @at
      WHERE conversationId = @conversationId`)
    const request = db.prepare(
      'UPDATE context_chains SET compactionId = ?, compactionSource = ?, compactionSeq = ? WHERE conversationId = ?',
    )
    const end =
      db.prepare(`UPDATE context_chains SET compactionId = NULL, compactionSource = NULL, compactionSeq = NULL
      WHERE conversationId = ? AND compactionId = ?`)
    const succeed = db.prepare(`UPDATE context_chains SET failures = 0, contextTokens = ?, inputTokens = ?
      WHERE conversationId = ?`)
    const fail = db.prepare(`UPDATE context_chains SET failures = failures + @counts, lastFailureKind = @kind,
      lastFailureAt = @at WHERE conversationId = @conversationId`)
    const insert = db.prepare(`INSERT INTO context_compactions
      (seq, conversationId, throughSeq, at, channel, source, inputTokensBefore, inputTokensAfter, provider, model, compactionId)
      VALUES (@seq, @conversationId, @throughSeq, @at,
        (SELECT channel FROM context_chains WHERE conversationId = @conversationId), @source, @inputTokensBefore,
        @inputTokensAfter, @provider, @model, @compactionId)`)
    // `max(seq)` would make SQLite plan the statement again at each run.
    const measure = db.prepare(`UPDATE context_compactions AS it SET firstTurnTokens = @tokens
      WHERE conversationId = @conversationId AND firstTurnTokens IS NULL AND NOT EXISTS
      (SELECT 1 FROM context_compactions WHERE conversationId = @conversationId AND seq > it.seq)`)
    const consume = db.prepare('UPDATE context_compactions SET consumed = 1 WHERE compactionId = ?')
    const capsule = db.prepare(
      'INSERT INTO context_capsules (seq, conversationId, throughSeq, at, source) VALUES (?, ?, ?, ?, ?)',
    )
    const keep = db.prepare('INSERT INTO context_kept VALUES (?, ?)')
    const restart = db.prepare('UPDATE context_chains SET tokensSinceCapsule = 0 WHERE conversationId = ?')
    const eraseCompaction = db.prepare('UPDATE context_compactions SET erased = 1 WHERE seq = ?')
    const eraseCapsule = db.prepare('UPDATE context_capsules SET erased = 1 WHERE seq = ?')
    // A hidden compaction is not a base, but does not trigger a new one either.
    const hide = ['compactions', 'capsules'].map((table) =>
      db.prepare(`UPDATE context_${table} SET erased = ${HIDDEN} WHERE seq = ? AND erased = 0`),
    )
    const show = ['compactions', 'capsules'].map((table) =>
      db.prepare(`UPDATE context_${table} SET erased = 0 WHERE seq = ? AND erased = ${HIDDEN}`),
    )
    const erasure = db.prepare('INSERT OR REPLACE INTO context_erasures VALUES (1, ?)')
    return {
      handlers: {
        'conversation.started': ({ conversationId }) => {
          if (conversationId !== null) begin.run(conversationId)
        },
        'turn.completed': ({ conversationId, channel, facts }) => {
          complete.run(channel, facts.contextTokens, facts.usage.outputTokens, conversationId)
          // A stopped turn has no token count.
          if (facts.contextTokens > 0) measure.run({ tokens: facts.contextTokens, conversationId })
        },
        'context.usage.recorded': ({ conversationId, at, facts }) =>
          void record.run({ conversationId, at, ...facts }),
        'context.compaction.requested': ({ seq, conversationId, facts }) =>
          void request.run(facts.compactionId, facts.source, seq, conversationId),
        'context.compaction.succeeded': ({ seq, at, conversationId, facts }) => {
          end.run(conversationId, facts.compactionId)
          succeed.run(facts.inputTokensAfter, facts.inputTokensAfter, conversationId)
          if (conversationId === null) return
          const { throughSeq, source, inputTokensBefore, inputTokensAfter, compactionId, model } = facts
          insert.run({
            seq,
            conversationId,
            throughSeq,
            at,
            source,
            inputTokensBefore,
            inputTokensAfter,
            compactionId,
            ...model,
          })
        },
        'context.compaction.failed': ({ conversationId, at, facts }) => {
          end.run(conversationId, facts.compactionId)
          // A conflict with a running turn is not a failure of compaction.
          fail.run({ conversationId, at, kind: facts.kind, counts: facts.kind === 'busy' ? 0 : 1 })
        },
        'context.replacement.consumed': ({ facts }) => void consume.run(facts.compactionId),
        'turn.items.kept': ({ seq, conversationId }) => void keep.run(seq, conversationId),
        'context.capsule.written': ({ seq, at, conversationId, facts }) => {
          if (conversationId === null) return
          capsule.run(seq, conversationId, facts.throughSeq, at, facts.source)
          restart.run(conversationId)
        },
        'context.capsule.failed': ({ conversationId }) => void restart.run(conversationId),
        'erasure.requested': ({ seq, facts }) => {
          for (const hidden of facts.seqs) for (const statement of hide) statement.run(hidden)
          erasure.run(seq)
        },
        'erasure.undone': ({ seq, facts }) => {
          for (const shown of facts.seqs) for (const statement of show) statement.run(shown)
          erasure.run(seq)
        },
        'memory.sources.kept': ({ seq }) => void erasure.run(seq),
        erased: ({ seq, facts }) => {
          for (const erasedSeq of facts.seqs) {
            eraseCompaction.run(erasedSeq)
            eraseCapsule.run(erasedSeq)
          }
          erasure.run(seq)
        },
      },
    }
  },
})

/** The number of barred sources, and the last fact that hid, erased or restored words. */
export type Forgotten = { readonly barredCount: number; readonly erasureSeq: number }

export function createContextQueries(views: Database) {
  const chain = views.prepare<[string], ContextRow>('SELECT * FROM context_chains WHERE conversationId = ?')
  const base = views.prepare<[string], CompactionRow>(
    'SELECT * FROM context_compactions WHERE conversationId = ? AND erased = 0 ORDER BY seq DESC LIMIT 1',
  )
  const bases = views.prepare<[string], CompactionRow>(
    'SELECT * FROM context_compactions WHERE conversationId = ? AND erased = 0 ORDER BY seq DESC',
  )
  const compactionsBefore = views.prepare<[number], { seq: number }>(
    'SELECT seq FROM context_compactions WHERE seq < ?',
  )
  const latest = views.prepare<[string], CompactionRow>(
    'SELECT * FROM context_compactions WHERE conversationId = ? ORDER BY seq DESC LIMIT 1',
  )
  const capsule = views.prepare<[string], CapsuleRow>(
    'SELECT * FROM context_capsules WHERE conversationId = ? AND erased = 0 ORDER BY seq DESC LIMIT 1',
  )
  const forgotten = views.prepare<[], Forgotten>(
    `SELECT (SELECT count(*) FROM memory_barred_sources) AS barredCount,
       coalesce((SELECT seq FROM context_erasures), 0) AS erasureSeq`,
  )
  const kept = views.prepare<[number], { seq: number; conversationId: string | null }>(
    'SELECT seq, conversationId FROM context_kept WHERE seq > ? ORDER BY seq',
  )
  const unfinished = views.prepare<[], ContextRow>(
    'SELECT * FROM context_chains WHERE compactionId IS NOT NULL',
  )
  return {
    chain: (conversationId: string) => chain.get(conversationId),
    /** The newest replacement that is neither hidden nor erased: the base of the context. */
    base: (conversationId: string) => base.get(conversationId),
    /** All such replacements, newest first. */
    bases: (conversationId: string) => bases.all(conversationId),
    /** Earlier replacements, which a later one may be built on. */
    compactionSeqs: (beforeSeq: number) => compactionsBefore.all(beforeSeq).map(({ seq }) => seq),
    latestCompaction: (conversationId: string) => latest.get(conversationId),
    capsule: (conversationId: string) => capsule.get(conversationId),
    /** If this changed, words went or came back, and earlier folds and judgements are stale. */
    forgotten: () => forgotten.get() ?? { barredCount: 0, erasureSeq: 0 },
    /** Native model items (reasoning) kept after `seq`. They may repeat any of the model's input. */
    keptAfter: (seq: number) => kept.all(seq),
    /** Chains with a compaction in progress, or interrupted by a crash. */
    unfinishedCompactions: () => unfinished.all(),
  }
}

/** A replacement that leaves more than this share of the input is useless. */
const USELESS_RATIO = 0.9

/** Whether the first turn on a replacement was hardly smaller than before. */
export function wasUseless(row: CompactionRow): boolean {
  return row.firstTurnTokens !== null && row.firstTurnTokens > row.inputTokensBefore * USELESS_RATIO
}
