import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { truncateLog } from '../ledger/ledger.ts'

/**
 * The bytes of a database's pages that belong to nothing. When SQLite moves a row, it leaves the old bytes in the gap
 * of the page, `secure_delete` or not; so what was erased may lie there until another row comes to lie on it.
 */
export type Slack = {
  /**
   * Empties the log into the file and zeroes what no row, list or header of the file owns; on disk on return. False
   * while a reader holds the log: then nothing was done. Only for the one writer of the file, between two transactions.
   * Throws when the file cannot be read or written; what was done until then is sound.
   */
  clear(): boolean
  /** After the database itself: POSIX drops a process's locks on a file with any descriptor of it. */
  close(): void
}

const PAGES_AT_ONCE = 1024
/** Where the first page's own header begins: the file's stands before it. */
const FILE_HEADER_BYTES = 100
/** Bytes of the header by the kind of page, in index and table, inner ones with a pointer more than leaves. */
const HEADER_BYTES: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 }
/** A free block within a page begins with where the next one is, and its own size. */
const FREE_BLOCK_HEADER_BYTES = 4

/**
 * Opens what `clear` needs when it is first called. It writes beside SQLite, where SQLite never looks: what it zeroes
 * is unallocated by the file format, a torn write leaves old bytes or zeros, and a reader meanwhile reads either. The
 * log is empty, so no frame of it shadows a page, and the writer's cache is dropped, so none comes back. To make the
 * file anew by VACUUM does the same for ten times the work, and every other connection reads the schema anew.
 */
export function openSlack(db: Database.Database): Slack {
  const pageBytes = Number(db.pragma('page_size', { simple: true }))
  const zeros = Buffer.alloc(pageBytes)
  let descriptor: number | null = null

  function zero(file: number, page: Buffer, at: number, from: number, to: number): boolean {
    if (to <= from || page.compare(zeros, 0, to - from, from, to) === 0) return false
    writeSync(file, zeros, 0, to - from, at + from)
    return true
  }

  /** True when it held anything. */
  function clearPage(file: number, page: Buffer, at: number): boolean {
    let held = false
    for (const { from, to } of unowned(page, at === 0 ? FILE_HEADER_BYTES : 0))
      held = zero(file, page, at, from, to) || held
    return held
  }

  function clearFile(file: number): void {
    const pages = Buffer.allocUnsafe(PAGES_AT_ONCE * pageBytes)
    let held = false
    for (let at = 0; ; at += pages.length) {
      const bytes = readSync(file, pages, 0, pages.length, at)
      for (let from = 0; from + pageBytes <= bytes; from += pageBytes)
        held = clearPage(file, pages.subarray(from, from + pageBytes), at + from) || held
      if (bytes < pages.length) break
    }
    if (held) fdatasyncSync(file)
  }

  return {
    clear() {
      if (db.memory) return true
      if (!truncateLog(db)) return false
      db.pragma('shrink_memory')
      descriptor ??= openSync(db.name, 'r+')
      clearFile(descriptor)
      return true
    },
    close() {
      if (descriptor !== null) closeSync(descriptor)
      descriptor = null
    },
  }
}

/**
 * The ranges of a b-tree page that hold nothing: between the pointers to its cells and the first of them, and in its
 * free blocks (https://sqlite.org/fileformat2.html, 1.6). None of any other page: `secure_delete` zeroes those
 * whole when they are freed, and their first byte, of a page's number, is below the kinds in a file under 34 GB.
 */
function* unowned(page: Buffer, header: number): Generator<{ from: number; to: number }> {
  const headerBytes = HEADER_BYTES[page[header] ?? 0]
  if (headerBytes === undefined) return
  const cells = page.readUInt16BE(header + 3)
  // 65,536 does not fit into its two bytes.
  const firstCell = page.readUInt16BE(header + 5) || 65_536
  const pointersEnd = header + headerBytes + 2 * cells
  if (firstCell > page.length || pointersEnd > firstCell) return
  yield { from: pointersEnd, to: firstCell }
  let block = page.readUInt16BE(header + 1)
  while (block >= firstCell && block + FREE_BLOCK_HEADER_BYTES <= page.length) {
    const next = page.readUInt16BE(block)
    const end = block + page.readUInt16BE(block + 2)
    if (end > page.length) return
    yield { from: block + FREE_BLOCK_HEADER_BYTES, to: end }
    // They are in order; anything else is damage, and not ours to write on.
    if (next <= block) return
    block = next
  }
}
