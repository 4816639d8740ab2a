import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import Database from 'better-sqlite3'
import { closing } from '../closing.ts'
import { scanLog } from '../log.ts'
import { FORMAT_VERSION, ledgerSchema } from '../schema.ts'

/** SQLite's default, which every ledger has. */
const PAGE_BYTES = 4096
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The first byte of a page that holds rows, and of one that holds `meta`, which has no row numbers. */
const TABLE_LEAF = 13
const INDEX_LEAF = 10

/** A row of the table `events`, `erasures` or `meta`. It is whatever its page says: nothing is verified yet. */
export type RawRow = Readonly<Record<string, unknown>>

/**
 * Reads every row in the pages of a damaged ledger and its log. Only copies: the files may be on a read-only disk, and
 * SQLite never opens them. `scratch` is a new file, which is removed afterwards.
 *
 * A tree of pages is lost with its root. So SQLite gets a sound first page, whose schema names one page after the other
 * as the root of a table: each page is read by itself, wherever it lies, and SQLite follows its overflow pages.
 */
export function* readPages(file: string, scratch: string): Generator<RawRow> {
  try {
    const pages = copyPages(file, scratch)
    using db = closing(new Database(scratch))
    db.unsafeMode(true)
    db.pragma('journal_mode = OFF')
    db.pragma('synchronous = OFF')
    db.pragma('writable_schema = ON')
    const setRoot = db.prepare('UPDATE sqlite_schema SET rootpage = ? WHERE name = ?')
    const statements = {
      events: ['ASC', 'DESC'].map((order) =>
        db.prepare<[], RawRow>(`SELECT * FROM events ORDER BY seq ${order}`),
      ),
      meta: [db.prepare<[], RawRow>('SELECT * FROM meta')],
    }
    for (const { page, table } of pages) {
      // Not by `pragma`, whose statements live until the next garbage collection: each reset visits all of them.
      db.exec('PRAGMA writable_schema = ON')
      setRoot.run(page, table)
      db.exec('PRAGMA writable_schema = RESET')
      yield* readAll(statements[table])
    }
  } finally {
    rmSync(scratch, { force: true })
  }
}

/** Reads a page from both ends, because a damaged row hides those behind it. */
function* readAll(statements: readonly Database.Statement<[], RawRow>[]): Generator<RawRow> {
  for (const statement of statements) {
    try {
      yield* statement.iterate()
      return
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error
    }
  }
}

type Leaf = { readonly page: number; readonly table: 'events' | 'meta' }

/** Copies the pages with those of the log in place. Behind them come the log's unusable frames and the first page. */
function copyPages(file: string, scratch: string): Leaf[] {
  if (existsSync(file)) {
    copyFileSync(file, scratch)
    // The copy of a read-only file is read-only.
    chmodSync(scratch, 0o600)
  }
  const descriptor = openSync(scratch, existsSync(scratch) ? 'r+' : 'w+')
  try {
    const write = (page: number, bytes: Buffer) =>
      void writeSync(descriptor, bytes, 0, PAGE_BYTES, (page - 1) * PAGE_BYTES)
    const page = Buffer.alloc(PAGE_BYTES)
    const read = (number: number) => readSync(descriptor, page, 0, PAGE_BYTES, (number - 1) * PAGE_BYTES)
    const unplaced: Buffer[] = []
    for (const { number, bytes, isKept } of framesOf(`${file}-wal`)) {
      if (isKept) write(number, bytes)
      else unplaced.push(bytes)
    }
    read(1)
    // The tables of the first page have their roots on the next two.
    let last = Math.max(3, Math.floor(fstatSync(descriptor).size / PAGE_BYTES))
    for (const bytes of [...unplaced, Buffer.from(page)]) write(++last, bytes)
    write(1, firstPage(scratch))
    const leaves: Leaf[] = []
    for (let number = 2; number <= last; number += 1) {
      read(number)
      if (page[0] === TABLE_LEAF) leaves.push({ page: number, table: 'events' })
      else if (page[0] === INDEX_LEAF) leaves.push({ page: number, table: 'meta' })
    }
    return leaves
  } finally {
    closeSync(descriptor)
  }
}

/** The pages in a log, and whether SQLite's recovery would use them. */
function* framesOf(file: string): Generator<{ number: number; bytes: Buffer; isKept: boolean }> {
  if (!existsSync(file)) return
  const { kept } = scanLog(file)
  const log = readFileSync(file)
  const frameBytes = FRAME_HEADER_BYTES + PAGE_BYTES
  for (let index = 0; LOG_HEADER_BYTES + (index + 1) * frameBytes <= log.length; index += 1) {
    const start = LOG_HEADER_BYTES + index * frameBytes
    const bytes = log.subarray(start + FRAME_HEADER_BYTES, start + frameBytes)
    yield { number: log.readUInt32BE(start), bytes, isKept: index < kept }
  }
}

/** The first page of a database with these tables and without guards. */
function firstPage(scratch: string): Buffer {
  const file = `${scratch}-first`
  try {
    using model = closing(new Database(':memory:'))
    model.exec(ledgerSchema(FORMAT_VERSION))
    const tables = model.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name IN ('events', 'meta')")
    const db = new Database(file)
    for (const sql of tables.pluck().all()) db.exec(sql)
    db.close()
    const bytes = readFileSync(file).subarray(0, PAGE_BYTES)
    // Number of pages: SQLite then asks the file.
    bytes.writeUInt32BE(0, 28)
    return bytes
  } finally {
    rmSync(file, { force: true })
  }
}
