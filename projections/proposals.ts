import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type ProposalRow = {
  proposalId: string
  /** The event with its content. */
  madeSeq: number
  kind: 'sms' | 'tool'
  /** For `tool`: the tool's name, and the digest that its content must match. */
  tool: string | null
  digest: string | null
  status: 'open' | 'confirmed' | 'declined'
  madeAt: string
  /** After this, an open proposal can be declined but not confirmed. */
  expiresAt: string
  /** The event that confirmed or declined it. */
  settledSeq: number | null
  /** The outcome of a confirmed tool call; null until it is carried out. */
  outcome: 'done' | 'refused' | 'failed' | null
  completedSeq: number | null
}

/** Proposals and what became of them. An erased proposal can no longer be confirmed. */
export const proposalsProjection = defineProjection({
  name: 'proposals',
  version: 2,
  tables: ['proposals', 'proposals_settled'],
  schema: `
    CREATE TABLE proposals (
      madeSeq INTEGER PRIMARY KEY, proposalId TEXT NOT NULL, kind TEXT NOT NULL, madeAt TEXT NOT NULL, expiresAt TEXT NOT NULL,
      tool TEXT, digest TEXT
    ) STRICT;
    CREATE INDEX proposals_by_id ON proposals (proposalId);
    CREATE INDEX proposals_by_end ON proposals (expiresAt);
    CREATE TABLE proposals_settled (
      proposalId TEXT PRIMARY KEY, status TEXT NOT NULL, settledSeq INTEGER NOT NULL, outcome TEXT, completedSeq INTEGER
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX proposals_pending ON proposals_settled (settledSeq) WHERE status = 'confirmed' AND outcome IS NULL;`,
  fold(db) {
    const make = db.prepare(
      'INSERT INTO proposals VALUES (@seq, @proposalId, @kind, @at, @expiresAt, @tool, @digest)',
    )
    const settle = db.prepare(
      'INSERT OR IGNORE INTO proposals_settled (proposalId, status, settledSeq) VALUES (?, ?, ?)',
    )
    const complete = db.prepare(
      'UPDATE proposals_settled SET outcome = ?, completedSeq = ? WHERE proposalId = ? AND outcome IS NULL',
    )
    const forget = db.prepare('DELETE FROM proposals WHERE madeSeq = ?')
    return {
      handlers: {
        'proposal.made': ({ seq, at, facts, body }) => {
          if (body) make.run({ seq, at, tool: null, digest: null, ...facts })
        },
        'proposal.confirmed': ({ seq, facts }) => void settle.run(facts.proposalId, 'confirmed', seq),
        'proposal.declined': ({ seq, facts }) => void settle.run(facts.proposalId, 'declined', seq),
        'proposal.completed': ({ seq, facts }) => void complete.run(facts.outcome, seq, facts.proposalId),
        erased: ({ facts }) => {
          for (const seq of facts.seqs) forget.run(seq)
        },
      },
    }
  },
})

export function createProposalQueries(views: Database) {
  const select = `SELECT proposals.*, coalesce(status, 'open') AS status, settledSeq, outcome, completedSeq
    FROM proposals LEFT JOIN proposals_settled USING (proposalId)`
  const byId = views.prepare<[string], ProposalRow>(`${select} WHERE proposalId = ? ORDER BY madeSeq LIMIT 1`)
  const open = views.prepare<[string, string], ProposalRow>(
    `${select} WHERE expiresAt > ? AND expiresAt <= ? AND status IS NULL ORDER BY madeSeq`,
  )
  const pending = views.prepare<[], ProposalRow>(
    `${select} WHERE status = 'confirmed' AND outcome IS NULL AND kind = 'tool' ORDER BY settledSeq`,
  )
  return {
    /** Confirmed tool calls without an outcome, in the order of confirmation. */
    pending: () => pending.all(),
    byId: (proposalId: string) => byId.get(proposalId),
    /** Open proposals that expire after `after` and no later than `until`, oldest first. */
    openBetween: (after: string, until: string) => open.all(after, until),
  }
}
