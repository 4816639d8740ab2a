import { existsSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { describeDisk, diskCauseOf, movedFiles } from './causes.ts'
import { COLUMNS, chainHash, type Draft, type EventRow, toDraft } from './codec.ts'
import { type ErasureReason, erasedFacts } from './erasure.ts'
import { InvalidEvent, isDamage, LedgerDamaged, LedgerUnavailable, messageOf } from './errors.ts'
import { ledgerFile, makeDirectory, makeFile, type Places, replacedLogFile, watchFiles } from './files.ts'
import { inspectLedger, refusalOf } from './inspect.ts'
import { createReader, type Head, type LedgerReader } from './reader.ts'
import { APPLICATION_ID, FORMAT_VERSION, ledgerSchema } from './schema.ts'
import { type HeadNote, type Loss, openHeadNote, type Witness } from './witness.ts'

/**
 * The outcome of one batch. `rows` are the batch's rows in order, then the `erased` facts that they required.
 * `rejected` means a violated constraint, a bug of the caller; other batches are not affected.
 */
export type CommitOutcome =
  | { readonly status: 'appended'; readonly rows: readonly EventRow[] }
  | { readonly status: 'duplicate'; readonly existing: EventRow }
  | { readonly status: 'rejected'; readonly error: Error }

/** Batches in a transaction that is not committed yet. Until it is kept or undone, nothing may use the ledger. */
export type OpenGroup = {
  readonly outcomes: CommitOutcome[]
  /** What the batches append, in order. */
  readonly rows: readonly EventRow[]
  /** The head before them. */
  readonly from: Head
  /**
   * Commits them. They are on disk when this returns, except in a copy. Throws LedgerUnavailable if the disk refuses;
   * then nothing was appended.
   */
  keep(): void
  undo(): void
}

/** The ledger's only writer. Synchronous: runs in the storage thread and in scripts. */
export type Ledger = LedgerReader & {
  /**
   * Appends batches in one transaction. Each batch is atomic; one with a taken key is a duplicate and changes
   * nothing. An `erased` fact erases the bodies it names in the same transaction; a fact derived from an erased
   * one is stored without its body. Throws LedgerUnavailable if the disk refuses; then nothing was appended.
   */
  begin(batches: readonly (readonly Draft[])[]): OpenGroup
  /** Appends batches as `begin` does, and keeps them. */
  commit(batches: readonly (readonly Draft[])[]): CommitOutcome[]
  /**
   * Inserts exported rows unchanged, including their hashes. Does not verify the chain. Throws LedgerUnavailable if the
   * disk refuses; then nothing was inserted.
   */
  importRows(rows: readonly EventRow[]): void
  setMeta(name: string, value: string): void
  /** Sets which database commits first. Appends wait for this disk, except with `commit`. */
  setEngine(engine: Engine): void
  /** Throws LedgerDamaged while a copy that was opened without its end still lacks it. */
  requireEnd(): void
  /** Why the last append failed; null if appends succeed. After a failure, each call tries a write again. */
  fault(): string | null
  /**
   * Null while the write-ahead log and its index are in place. If one is gone, no later start could read the
   * open log, so this checkpoints it into the ledger. Once it is saved, appends are refused and the process
   * must end.
   */
  saveLostLog(): LostLog | null
  /**
   * Checkpoints and empties the write-ahead log, so that erased text is in neither file. False while a reader
   * blocks it. Throws LedgerUnavailable if the disk refuses.
   */
  truncateLog(): boolean
  readonly db: Database.Database
  close(): void
}

/** Which database commits first: this one, this one with a follower, or another one, of which this is a copy. */
export type Engine = 'sqlite' | 'follow' | 'commit'

/** A write-ahead log that was removed while open, and whether its content is saved in the ledger. */
export type LostLog = { readonly isSaved: boolean; readonly message: string }

export type LedgerOptions = {
  /** Reads the views' checkpoint, a witness of lost events. */
  readonly readViews?: () => Witness | null
  /** Opens the ledger in spite of a loss. */
  readonly acceptLoss?: boolean
  /**
   * Opens a copy that lacks its end, which a power cut may take. The caller adds it from the database that commits
   * first, before anything else, and then calls `requireEnd`.
   */
  readonly mayLackEnd?: boolean
}

/** Opens or creates a directory's ledger. Throws LedgerDamaged, in which case nothing was changed. */
export function openLedger(directory: string, newId: () => string, options: LedgerOptions = {}): Ledger {
  const { readViews = () => null, acceptLoss = false, mayLackEnd = false } = options
  makeDirectory(directory)
  const file = ledgerFile(directory)
  const { exists, isCopy, loss } = inspectLedger(directory, readViews)
  const missingEnd = mayLackEnd && isCopy && loss?.missing ? loss : null
  if (loss && !acceptLoss && !missingEnd) throw refusalOf(loss, file)
  makeFile(file)
  const db = new Database(file)
  try {
    configure(db, isCopy)
    if (!exists) createTables(db, newId)
    const reader = createReader(db)
    // `reader.id()` reads, which creates the log that `watchFiles` needs.
    const note = openHeadNote(directory, reader.id())
    return createWriter(db, reader, newId, { places: watchFiles(file), note, missingEnd })
  } catch (cause) {
    db.close()
    if (cause instanceof Error && isDamage(cause))
      throw new LedgerDamaged(`${file} is damaged: ${cause.message}`, { cause })
    throw cause
  }
}

function configure(db: Database.Database, isCopy: boolean): void {
  db.pragma('journal_mode = WAL')
  db.pragma(synchronous(isCopy))
  db.pragma('recursive_triggers = ON')
  db.pragma('secure_delete = ON')
  // Temporary data may be personal, so it must not reach a file outside the directory.
  db.pragma('temp_store = MEMORY')
}

/** In WAL mode, a power cut after NORMAL takes the last commits, and damages nothing. */
const synchronous = (isCopy: boolean): string => `synchronous = ${isCopy ? 'NORMAL' : 'FULL'}`

function createTables(db: Database.Database, newId: () => string): void {
  db.transaction(() => {
    db.exec(ledgerSchema(FORMAT_VERSION))
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.pragma(`user_version = ${FORMAT_VERSION}`)
    db.prepare("INSERT INTO meta (name, value) VALUES ('ledgerId', ?)").run(newId())
  })()
}

function createWriter(
  db: Database.Database,
  reader: LedgerReader,
  newId: () => string,
  beside: { readonly places: Places; readonly note: HeadNote; readonly missingEnd: Loss | null },
): Ledger {
  const { places, missingEnd } = beside
  let head: Head = reader.head()
  /** Set once the log's content is saved. */
  let lostLog: LostLog | null = null
  let fault: string | null = null
  const directory = dirname(db.name)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  const beginBatch = db.prepare('SAVEPOINT batch')
  const endBatch = db.prepare('RELEASE batch')
  const undoBatch = db.prepare('ROLLBACK TO batch')
  // By position: binding by name costs as much as a small insert.
  const insert = db.prepare<[(string | number | null)[]]>(
    `INSERT INTO events (${COLUMNS.join()}) VALUES (${COLUMNS.map(() => '?').join()})`,
  )
  const erasedSource = db.prepare<[string], { reason: ErasureReason; erasedBy: number }>(
    `SELECT events.facts ->> '$.reason' AS reason, erasedBy
     FROM json_each(?) AS source JOIN erasures ON erasures.seq = source.value JOIN events ON events.seq = erasedBy LIMIT 1`,
  )
  const setMeta = db.prepare(
    'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )

  function rollBack(): void {
    if (db.inTransaction) db.exec('ROLLBACK')
  }

  function insertDraft(draft: Draft): EventRow {
    const seq = head.seq + 1
    const row = { seq, ...draft, hash: chainHash(head.hash, seq, draft) }
    insert.run(valuesOf(row))
    head = { seq, hash: row.hash }
    return row
  }

  function insertBatch(batch: readonly Draft[]): CommitOutcome {
    for (const draft of batch) {
      const existing = draft.key === null ? undefined : reader.rowByKey(draft.key)
      if (existing) return { status: 'duplicate', existing }
    }
    const rows: EventRow[] = []
    const bornErased: BornErased[] = []
    for (const draft of batch) {
      const source = draft.derivedFrom === null ? undefined : erasedSourceOf(draft)
      // Keep the digest, so the chain is the same as if the body had been erased after the append.
      rows.push(insertDraft(source ? { ...draft, body: null, salt: null } : draft))
      if (source) bornErased.push({ seq: head.seq, at: draft.at, ...source })
    }
    for (const each of bornErased) rows.push(...insertErasedFacts(each))
    return { status: 'appended', rows }
  }

  /** The erasure of one of the draft's sources, if any: a source may be erased while a turn runs. */
  function erasedSourceOf(draft: Draft) {
    const sources: unknown = JSON.parse(draft.derivedFrom ?? '[]')
    if (!Array.isArray(sources) || sources.some((seq) => seq > head.seq))
      throw new InvalidEvent(`${draft.type}: derivedFrom names a seq that does not exist yet`)
    return erasedSource.get(draft.derivedFrom ?? '[]')
  }

  function insertErasedFacts({ seq, at, reason, erasedBy }: BornErased): EventRow[] {
    const facts = erasedFacts([seq], reason, { actor: 'service', causedBy: erasedBy })
    return facts.map((fact) => insertDraft(toDraft(fact, { newId, newSalt: () => '', at })))
  }

  /** Throws if the ledger or its log was moved: appends to an unlinked file vanish when the process ends. */
  function requirePlace(): void {
    if (lostLog === null && places.hasFile() && places.hasLog()) return
    const lost = saveLostLog()
    throw new Error(lost?.message ?? movedFiles.ledger)
  }

  function saveLostLog(): LostLog | null {
    if (lostLog || !places.hasFile() || (places.hasLog() && places.hasIndex())) return lostLog
    try {
      if (!checkpoint(db, 'FULL')) throw new Error('a reader blocks it')
      // SQLite would replay a foreign log over the saved ledger.
      if (existsSync(`${db.name}-wal`)) renameSync(`${db.name}-wal`, replacedLogFile(db.name))
      lostLog = { isSaved: true, message: `${movedFiles.log} ${movedFiles.saved}` }
    } catch (error) {
      return { isSaved: false, message: `${movedFiles.log} ${movedFiles.unsaved} (${messageOf(error)})` }
    }
    return lostLog
  }

  function openGroup(batches: readonly (readonly Draft[])[]): OpenGroup {
    const from = head
    function undo(): void {
      rollBack()
      head = from
    }
    const attempt = <T>(work: () => T): T => {
      try {
        return work()
      } catch (error) {
        undo()
        fault = describe(error)
        throw unavailable(error)
      }
    }
    const outcomes = attempt(() => {
      requirePlace()
      begin.run()
      return batches.map(insertApart)
    })
    const rows = outcomes.flatMap((outcome) => (outcome.status === 'appended' ? outcome.rows : []))
    return {
      outcomes,
      rows,
      from,
      undo,
      keep: () =>
        attempt(() => {
          end.run()
          const last = rows.at(-1)
          // A group that changes nothing does not touch the disk.
          if (!last) return
          fault = null
          writeNote(last, last.at)
        }),
    }
  }

  function unavailable(cause: unknown): LedgerUnavailable {
    const disk = diskCauseOf(cause, directory)
    return new LedgerUnavailable(`the ledger could not be written: ${describe(cause)}`, { cause, disk })
  }

  const describe = (error: unknown) => describeDisk(error, directory) ?? messageOf(error)

  /** Inserts a batch in its own savepoint, so that an invalid batch does not fail the others. */
  function insertApart(batch: readonly Draft[]): CommitOutcome {
    const before = head
    beginBatch.run()
    try {
      return insertBatch(batch)
    } catch (error) {
      if (!isRejection(error)) throw error
      undoBatch.run()
      head = before
      return { status: 'rejected', error }
    } finally {
      if (db.inTransaction) endBatch.run()
    }
  }

  /** Rewrites the first page unchanged to test whether the disk accepts writes. */
  function tryToWrite(): void {
    try {
      requirePlace()
      db.pragma(`application_id = ${APPLICATION_ID}`)
      fault = null
    } catch (error) {
      fault = describe(error)
    }
  }

  /** Until a copy has its end again, the note that proves the loss stays. */
  function writeNote({ seq, hash }: Head, at: string): void {
    if (missingEnd === null || seq >= missingEnd.witness.seq) beside.note.write({ seq, hash }, at)
  }

  const last = reader.rowAt(head.seq)
  writeNote(head, last?.at ?? '')

  return {
    ...reader,
    db,
    begin: openGroup,
    commit(batches) {
      const { outcomes, keep } = openGroup(batches)
      keep()
      return outcomes
    },
    importRows(rows) {
      try {
        begin.run()
        for (const row of rows) insert.run(valuesOf(row))
        end.run()
        fault = null
      } catch (error) {
        rollBack()
        if (diskCauseOf(error, directory) === null) throw error
        fault = describe(error)
        throw unavailable(error)
      }
      head = rows.at(-1) ?? head
      writeNote(head, rows.at(-1)?.at ?? '')
    },
    requireEnd() {
      if (missingEnd && reader.hashAt(missingEnd.witness.seq) !== missingEnd.witness.hash)
        throw refusalOf(missingEnd, db.name)
    },
    fault() {
      if (fault !== null || !places.hasFile() || saveLostLog()) tryToWrite()
      return fault
    },
    saveLostLog,
    setMeta: (name, value) => void setMeta.run(name, value),
    setEngine(engine) {
      // The next start has to know which events may be missing.
      db.pragma(synchronous(false))
      setMeta.run('engine', engine)
      db.pragma(synchronous(engine === 'commit'))
    },
    truncateLog() {
      try {
        return truncateLog(db)
      } catch (error) {
        throw unavailable(error)
      }
    },
    close() {
      if (!db.open) return
      db.close()
      beside.note.close()
    },
  }
}

/** Empties a database's write-ahead log. Returns false at once if a reader blocks it. */
export function truncateLog(db: Database.Database): boolean {
  const waitMs = db.pragma('busy_timeout', { simple: true })
  db.pragma('busy_timeout = 0')
  try {
    return checkpoint(db, 'TRUNCATE')
  } finally {
    db.pragma(`busy_timeout = ${waitMs}`)
  }
}

/** Checkpoints the whole write-ahead log; TRUNCATE also empties it. False if another connection blocks it. */
function checkpoint(db: Database.Database, mode: 'FULL' | 'TRUNCATE'): boolean {
  const result = db.pragma(`wal_checkpoint(${mode})`)
  return Array.isArray(result) && result[0]?.busy === 0
}

const valuesOf = (row: EventRow) => COLUMNS.map((column) => row[column])

type BornErased = { seq: number; at: string; reason: ErasureReason; erasedBy: number }

function isRejection(error: unknown): error is Error {
  return (
    error instanceof InvalidEvent ||
    (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT'))
  )
}
