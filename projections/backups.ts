import type { Database } from 'better-sqlite3'
import { type backupSteps, timeOfBackup } from '../ledger/events/backup.ts'
import { defineProjection } from './projection.ts'

export type BackupStep = (typeof backupSteps)[number]

export type BackupRow = {
  name: string
  /** When it was begun, from its name. */
  createdAt: string
  bytes: number
  events: number
  headHash: string
  digest: string
  removedAt: string | null
}

/** The outcomes of a step. Times are those of their facts; 0 and null mean never. */
export type BackupStepRow = {
  step: BackupStep | 'request'
  doneSeq: number
  doneAt: string | null
  failedSeq: number
  failedAt: string | null
  /** Of the last failure; null once the step succeeded. */
  reason: string | null
  /** In a row. */
  failures: number
  /** The backup of the last test. */
  name: string | null
}

/** The backups that the service made, and how the last run of each step ended. */
export const backupsProjection = defineProjection({
  name: 'backups',
  version: 1,
  tables: ['backups', 'backup_steps'],
  schema: `
    CREATE TABLE backups (
      name TEXT PRIMARY KEY, createdAt TEXT NOT NULL, bytes INTEGER NOT NULL, events INTEGER NOT NULL,
      headHash TEXT NOT NULL, digest TEXT NOT NULL, removedAt TEXT
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE backup_steps (
      step TEXT PRIMARY KEY, doneSeq INTEGER NOT NULL DEFAULT 0, doneAt TEXT, failedSeq INTEGER NOT NULL DEFAULT 0,
      failedAt TEXT, reason TEXT, failures INTEGER NOT NULL DEFAULT 0, name TEXT
    ) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const make = db.prepare(`INSERT OR IGNORE INTO backups
      VALUES (@name, @createdAt, @bytes, @events, @headHash, @digest, NULL)`)
    const remove = db.prepare('UPDATE backups SET removedAt = ? WHERE name = ?')
    const done = db.prepare(`INSERT INTO backup_steps (step, doneSeq, doneAt) VALUES (?, ?, ?) ON CONFLICT DO
      UPDATE SET doneSeq = excluded.doneSeq, doneAt = excluded.doneAt, reason = NULL, failures = 0`)
    const fail = db.prepare(`INSERT INTO backup_steps (step, failedSeq, failedAt, reason, failures)
      VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET failedSeq = excluded.failedSeq,
      failedAt = excluded.failedAt, reason = excluded.reason, failures = failures + 1`)
    const nameTested = db.prepare(`INSERT INTO backup_steps (step, doneSeq, name) VALUES ('test', 0, ?)
      ON CONFLICT DO UPDATE SET name = ?`)
    return {
      handlers: {
        'backup.requested': ({ seq, at }) => void done.run('request', seq, at),
        // Those that exist are elsewhere, or have another passphrase.
        'settings.changed': ({ seq, at, facts }) => {
          if (facts.keys.some((key) => key === 'BACKUP_DIRECTORY' || key === 'BACKUP_PASSPHRASE'))
            done.run('request', seq, at)
        },
        'backup.made': ({ seq, at, facts }) => {
          make.run({ ...facts, createdAt: timeOfBackup(facts.name) ?? at })
          done.run('make', seq, at)
        },
        'backup.failed': ({ seq, at, facts }) => void fail.run(facts.step, seq, at, facts.reason),
        'backup.removed': ({ seq, at, facts }) => {
          for (const name of facts.names) remove.run(at, name)
          done.run('remove', seq, at)
        },
        'backup.copied': ({ seq, at }) => void done.run('copy', seq, at),
        'backup.tested': ({ seq, at, facts }) => {
          // `backup.failed` follows if it is not.
          if (facts.ok) done.run('test', seq, at)
          nameTested.run(facts.name, facts.name)
        },
      },
    }
  },
})

export function createBackupQueries(views: Database) {
  const all = views.prepare<[], BackupRow>('SELECT * FROM backups ORDER BY createdAt DESC')
  const kept = views.prepare<[], BackupRow>(
    'SELECT * FROM backups WHERE removedAt IS NULL ORDER BY createdAt DESC',
  )
  const step = views.prepare<[string], BackupStepRow>('SELECT * FROM backup_steps WHERE step = ?')
  return {
    /** Newest first, removed ones included. */
    all: () => all.all(),
    /** Newest first, without those that were removed. */
    kept: () => kept.all(),
    /** The newest of them. One from the future does not count: it was made while the clock was ahead. */
    newest: (nowMs: number) => kept.all().find(({ createdAt }) => Date.parse(createdAt) <= nowMs),
    step: (name: BackupStepRow['step']): BackupStepRow =>
      step.get(name) ?? {
        step: name,
        doneSeq: 0,
        doneAt: null,
        failedSeq: 0,
        failedAt: null,
        reason: null,
        failures: 0,
        name: null,
      },
  }
}

export type BackupQueries = ReturnType<typeof createBackupQueries>
