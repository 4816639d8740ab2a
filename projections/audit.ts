import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

const AUDITED = [
  'owner.installed',
  'owner.signed-in',
  'owner.signed-out',
  'owner.session.revoked',
  'owner.password.changed',
  'settings.changed',
  'adaptation.saved',
  'adaptations.reloaded',
  'intrusion.counted',
  'erased',
  'memory.deleted',
  'note.deleted',
  'ledger.imported',
  'ledger.loss.accepted',
  'outbound.released',
] as const

export type AuditRow = { seq: number; at: string; type: string; actor: string }

/** The audit trail, as pointers to events. */
export const auditProjection = defineProjection({
  name: 'audit',
  version: 1,
  tables: ['audit'],
  schema:
    'CREATE TABLE audit (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, type TEXT NOT NULL, actor TEXT NOT NULL) STRICT;',
  fold(db) {
    const insert = db.prepare('INSERT INTO audit VALUES (@seq, @at, @type, @actor)')
    const record = ({ seq, at, type, actor }: AuditRow) => void insert.run({ seq, at, type, actor })
    return { handlers: Object.fromEntries(AUDITED.map((type) => [type, record])) }
  },
})

/** Newest first. */
export function listAudit(views: Database, limit: number): AuditRow[] {
  return views.prepare<[number], AuditRow>('SELECT * FROM audit ORDER BY seq DESC LIMIT ?').all(limit)
}
