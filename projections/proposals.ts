import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type ProposalRow = {
  proposalId: string
  /** The event that holds what is proposed. */
  madeSeq: number
  kind: 'sms'
  status: 'open' | 'confirmed' | 'declined'
  madeAt: string
  /** From then on an open one can be declined, not confirmed. */
  expiresAt: string
}

/** What waits for the owner's word in the browser, and what became of it. Erased words can be confirmed no more. */
export const proposalsProjection = defineProjection({
  name: 'proposals',
  version: 1,
  tables: ['proposals', 'proposals_settled'],
  schema: `
    CREATE TABLE proposals (
      madeSeq INTEGER PRIMARY KEY, proposalId TEXT NOT NULL, kind TEXT NOT NULL, madeAt TEXT NOT NULL, expiresAt TEXT NOT NULL
    ) STRICT;
    CREATE INDEX proposals_by_id ON proposals (proposalId);
    CREATE INDEX proposals_by_end ON proposals (expiresAt);
    CREATE TABLE proposals_settled (proposalId TEXT PRIMARY KEY, status TEXT NOT NULL) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const make = db.prepare('INSERT INTO proposals VALUES (@seq, @proposalId, @kind, @at, @expiresAt)')
    const settle = db.prepare('INSERT OR IGNORE INTO proposals_settled VALUES (?, ?)')
    const forget = db.prepare('DELETE FROM proposals WHERE madeSeq = ?')
    return {
      handlers: {
        'proposal.made': ({ seq, at, facts, body }) => {
          if (body) make.run({ seq, at, ...facts })
        },
        'proposal.confirmed': ({ facts }) => void settle.run(facts.proposalId, 'confirmed'),
        'proposal.declined': ({ facts }) => void settle.run(facts.proposalId, 'declined'),
        erased: ({ facts }) => {
          for (const seq of facts.seqs) forget.run(seq)
        },
      },
    }
  },
})

/** Queries over proposals, on a connection that reads the views. */
export function createProposalQueries(views: Database) {
  const select = `SELECT proposals.*, coalesce(status, 'open') AS status
    FROM proposals LEFT JOIN proposals_settled USING (proposalId)`
  const byId = views.prepare<[string], ProposalRow>(`${select} WHERE proposalId = ? ORDER BY madeSeq LIMIT 1`)
  const open = views.prepare<[string, string], ProposalRow>(
    `${select} WHERE expiresAt > ? AND expiresAt <= ? AND status IS NULL ORDER BY madeSeq`,
  )
  return {
    byId: (proposalId: string) => byId.get(proposalId),
    /** Those that expire after a moment and by another, the oldest first. */
    openBetween: (after: string, until: string) => open.all(after, until),
  }
}
