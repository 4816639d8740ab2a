import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type SignalMode = 'ambient' | 'next-turn' | 'wake' | 'interrupt'

export type SignalRow = {
  signalId: string
  seq: number
  kind: string
  mode: SignalMode
  priority: number
  dedupKey: string
  raisedAt: string
  /** Failed activations that included it. */
  attempts: number
  /** Earliest time of a retry; null for at once. */
  retryAt: string | null
  activationId: string | null
}

/** Signals that are not settled yet, and the activations that handle them. */
export const signalsProjection = defineProjection({
  name: 'signals',
  version: 3,
  tables: ['signals', 'signal_seqs', 'signal_tries', 'activations'],
  schema: `
    CREATE TABLE signals (
      signalId TEXT PRIMARY KEY, seq INTEGER NOT NULL, kind TEXT NOT NULL, mode TEXT NOT NULL, priority INTEGER NOT NULL,
      dedupKey TEXT NOT NULL, raisedAt TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, retryAt TEXT, activationId TEXT
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE signal_seqs (signalId TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID, STRICT;
    CREATE TABLE signal_tries (
      signalId TEXT NOT NULL, seq INTEGER NOT NULL, turnId TEXT NOT NULL, PRIMARY KEY (signalId, seq)
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE activations (
      activationId TEXT PRIMARY KEY, seq INTEGER NOT NULL, conversationId TEXT, spanId TEXT, turnId TEXT, attempt INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const raise =
      db.prepare(`INSERT OR IGNORE INTO signals (signalId, seq, kind, mode, priority, dedupKey, raisedAt)
      VALUES (@signalId, @seq, @kind, @mode, @priority, @dedupKey, @at)`)
    const place = db.prepare('INSERT OR IGNORE INTO signal_seqs VALUES (?, ?)')
    const take = db.prepare('UPDATE signals SET activationId = ? WHERE signalId = ?')
    const attempt = db.prepare('INSERT OR IGNORE INTO signal_tries VALUES (?, ?, ?)')
    const drop = db.prepare('DELETE FROM signals WHERE signalId = ?')
    const dropTries = db.prepare('DELETE FROM signal_tries WHERE signalId = ?')
    const settle = (signalId: string) => {
      drop.run(signalId)
      dropTries.run(signalId)
    }
    const retry = db.prepare(
      'UPDATE signals SET activationId = NULL, attempts = ?, retryAt = ? WHERE signalId = ?',
    )
    const start = db.prepare('INSERT OR REPLACE INTO activations VALUES (?, ?, ?, ?, ?, ?)')
    const end = db.prepare('DELETE FROM activations WHERE activationId = ?')
    return {
      handlers: {
        'signal.raised': ({ seq, at, facts }) => {
          raise.run({ seq, at, ...facts })
          place.run(facts.signalId, seq)
        },
        'signal.dismissed': ({ facts }) => {
          for (const id of facts.signalIds) settle(id)
        },
        'activation.started': ({ seq, conversationId, spanId, turnId, facts }) => {
          start.run(facts.activationId, seq, conversationId, spanId, turnId, facts.attempt)
          for (const id of facts.signalIds) {
            take.run(facts.activationId, id)
            if (turnId !== null) attempt.run(id, seq, turnId)
          }
        },
        'activation.completed': ({ facts }) => {
          end.run(facts.activationId)
          for (const id of facts.signalIds) settle(id)
        },
        'activation.failed': ({ facts }) => {
          end.run(facts.activationId)
          for (const id of facts.signalIds) {
            if (facts.final) settle(id)
            else retry.run(facts.attempt, facts.retryAt, id)
          }
        },
      },
    }
  },
})

export type ActivationRow = {
  activationId: string
  seq: number
  conversationId: string | null
  spanId: string | null
  turnId: string | null
  attempt: number
}

export function createSignalQueries(views: Database) {
  const waking = views.prepare<[string, string], SignalRow>(
    `SELECT * FROM signals WHERE mode IN ('wake', 'interrupt') AND activationId IS NULL
       AND (retryAt IS NULL OR retryAt <= ? OR retryAt > ?)
     ORDER BY priority DESC, seq`,
  )
  const riding = views.prepare<[], SignalRow>(
    "SELECT * FROM signals WHERE mode IN ('ambient', 'next-turn') AND activationId IS NULL ORDER BY priority DESC, seq",
  )
  const nextRetry = views.prepare<[], { retryAt: string | null }>(
    "SELECT min(retryAt) AS retryAt FROM signals WHERE mode IN ('wake', 'interrupt') AND activationId IS NULL AND retryAt IS NOT NULL",
  )
  const running = views.prepare<[], ActivationRow>('SELECT * FROM activations ORDER BY seq')
  const ofActivation = views.prepare<[string], { signalId: string }>(
    'SELECT signalId FROM signals WHERE activationId = ?',
  )
  const triedBefore = views.prepare<[string], { turnId: string }>(
    `SELECT earlier.turnId FROM signal_tries AS mine JOIN signal_tries AS earlier USING (signalId)
     WHERE mine.turnId = ? AND earlier.seq < mine.seq GROUP BY earlier.turnId ORDER BY min(earlier.seq)`,
  )
  const seqOf = views.prepare<[string], { seq: number }>('SELECT seq FROM signal_seqs WHERE signalId = ?')
  const interrupting = views.prepare<[], { found: number }>(
    `SELECT 1 AS found FROM signals
     WHERE mode = 'interrupt' AND activationId IS NULL AND retryAt IS NULL LIMIT 1`,
  )
  return {
    /**
     * Signals that may start an activation now, most urgent first. A retry further away than `longestWaitMs`
     * was set while the clock was ahead, and counts as due.
     */
    waking: ({ nowMs, longestWaitMs }: { readonly nowMs: number; readonly longestWaitMs: number }) =>
      waking.all(new Date(nowMs).toISOString(), new Date(nowMs + longestWaitMs).toISOString()),
    /** Signals that join the owner's next turn and never start an activation. */
    riding: () => riding.all(),
    nextRetryAt: () => nextRetry.get()?.retryAt ?? null,
    /** Activations in progress, or interrupted by a crash. */
    running: () => running.all(),
    ofActivation: (activationId: string) => ofActivation.all(activationId).map(({ signalId }) => signalId),
    /** Earlier turns with any of this turn's signals, which failed; oldest first. */
    triedBefore: (turnId: string) => triedBefore.all(turnId).map((row) => row.turnId),
    /** The seq of the event that raised a signal, settled or not. */
    seqOf: (signalId: string) => seqOf.get(signalId)?.seq ?? null,
    /** Ignores signals that wait for a retry: they would interrupt every turn until then. */
    hasInterrupt: () => interrupting.get() !== undefined,
  }
}
