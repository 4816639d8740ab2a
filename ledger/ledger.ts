import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { chainHash, type Draft, type EventRow } from './codec.ts'
import { LedgerDamaged, LedgerUnavailable } from './errors.ts'
import { checkFormat, checkHeader, ledgerFile, makeDirectory, makeFile } from './files.ts'
import { createReader, type Head, type LedgerReader } from './reader.ts'
import { APPLICATION_ID, FORMAT_VERSION, LEDGER_SCHEMA } from './schema.ts'
import { verifyChain } from './verify.ts'

/** What became of one batch. `rejected` is a broken constraint: a bug of the caller, told to it alone. */
export type CommitOutcome =
  | { readonly status: 'appended'; readonly rows: readonly EventRow[] }
  | { readonly status: 'duplicate'; readonly existing: EventRow }
  | { readonly status: 'rejected'; readonly error: Error }

/** The one writer of the ledger. Synchronous: it runs in the storage thread, and in scripts. */
export type Ledger = LedgerReader & {
  /**
   * Appends batches in one durable transaction (`synchronous=FULL`: on disk when this returns). Each batch goes
   * in whole or not at all; a batch of which any key is taken is a duplicate and changes nothing. Throws
   * LedgerUnavailable when the disk refuses: then no batch was kept.
   */
  commit(batches: readonly (readonly Draft[])[]): CommitOutcome[]
  /** Appends rows as they are, hash and all, to rebuild a ledger from an export. The chain is not checked. */
  importRows(rows: readonly EventRow[]): void
  /** Nulls the bodies of events that an `erased` fact names; `truncateLog` then makes the bytes go. */
  eraseBodies(seqs: readonly number[]): void
  setMeta(name: string, value: string): void
  /** Moves the write-ahead log into the file and empties it. False while a reader holds it. */
  truncateLog(): boolean
  readonly db: Database.Database
  close(): void
}

/** Links checked at each start; the full walk runs in a worker. */
const LINKS_CHECKED_AT_START = 1000

/** Opens the ledger of a directory, or makes one. Throws LedgerDamaged, and then has changed nothing. */
export function openLedger(directory: string, newId: () => string): Ledger {
  makeDirectory(directory)
  const file = ledgerFile(directory)
  checkHeader(file)
  makeFile(file)
  const isNew = statSync(file).size === 0
  const db = new Database(file)
  try {
    if (!isNew) checkFormat(db, file)
    configure(db)
    if (isNew) createTables(db, newId)
    const reader = createReader(db)
    const head = reader.head()
    verifyChain(reader, Math.max(0, head.seq - LINKS_CHECKED_AT_START))
    return createWriter(db, reader)
  } catch (cause) {
    db.close()
    if (cause instanceof Database.SqliteError)
      throw new LedgerDamaged(`${file} cannot be read: ${cause.message}`, { cause })
    throw cause
  }
}

function configure(db: Database.Database): void {
  db.pragma('journal_mode = WAL')
  // better-sqlite3 is built with NORMAL as the default in WAL mode, which a power cut rolls back.
  db.pragma('synchronous = FULL')
  db.pragma('recursive_triggers = ON')
  db.pragma('secure_delete = ON')
}

function createTables(db: Database.Database, newId: () => string): void {
  db.transaction(() => {
    db.exec(LEDGER_SCHEMA)
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.pragma(`user_version = ${FORMAT_VERSION}`)
    db.prepare("INSERT INTO meta (name, value) VALUES ('ledgerId', ?)").run(newId())
  })()
}

function createWriter(db: Database.Database, reader: LedgerReader): Ledger {
  let head: Head = reader.head()
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  const insert = db.prepare(`INSERT INTO events VALUES (
    @seq, @id, @key, @type, @version, @at, @conversationId, @spanId, @turnId, @causedBy, @derivedFrom, @channel,
    @actor, @facts, @body, @salt, @bodyDigest, @hash)`)
  const erase = db.prepare('UPDATE events SET body = NULL, salt = NULL WHERE seq = ?')
  const setMeta = db.prepare(
    'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )

  function inTransaction<T>(work: () => T): T {
    try {
      begin.run()
      const result = work()
      end.run()
      return result
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  function insertBatch(batch: readonly Draft[]): CommitOutcome {
    for (const draft of batch) {
      const existing = draft.key === null ? undefined : reader.rowByKey(draft.key)
      if (existing) return { status: 'duplicate', existing }
    }
    const rows = batch.map((draft) => {
      const seq = head.seq + 1
      const row = { seq, ...draft, hash: chainHash(head.hash, seq, draft) }
      insert.run(row)
      head = { seq, hash: row.hash }
      return row
    })
    return { status: 'appended', rows }
  }

  function commit(batches: readonly (readonly Draft[])[]): CommitOutcome[] {
    const before = head
    try {
      return inTransaction(() => batches.map(insertBatch))
    } catch (error) {
      head = before
      if (!isConstraint(error))
        throw new LedgerUnavailable(`the ledger could not be written: ${messageOf(error)}`, { cause: error })
      // One caller's mistake must not cost the others of the group their append.
      const [only, ...others] = batches
      if (only && others.length === 0) return [{ status: 'rejected', error }]
      return batches.flatMap((batch) => commit([batch]))
    }
  }

  return {
    ...reader,
    db,
    commit,
    importRows(rows) {
      inTransaction(() => {
        for (const row of rows) insert.run(row)
      })
      head = reader.head()
    },
    eraseBodies(seqs) {
      inTransaction(() => {
        for (const seq of seqs) erase.run(seq)
      })
    },
    setMeta: (name, value) => void setMeta.run(name, value),
    truncateLog: () => truncateLog(db),
    close() {
      if (db.open) db.close()
    },
  }
}

/** Empties a database's write-ahead log. False while a reader holds it. */
export function truncateLog(db: Database.Database): boolean {
  const result = db.pragma('wal_checkpoint(TRUNCATE)')
  return Array.isArray(result) && result[0]?.busy === 0
}

function isConstraint(error: unknown): error is Error {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
