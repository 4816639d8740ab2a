import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { truncateLog } from '../ledger/ledger.ts'

/**
 * The bytes of a database's pages that belong to nothing. When SQLite moves a row, it leaves the old bytes in the gap
 * of the page, `secure_delete` or not, so erased words may lie there until another row covers them.
 */
export type Slack = {
  /**
   * Empties the log into the file and zeroes what no row, list or header of the file owns, a short step at a time.
   * When it ends, all that was erased before it began is gone from the disk. Between steps others may read and write;
   * `held` means that a reader holds the log, and nothing was done. Only for the one writer of the file, outside its
   * transactions. Throws when the file cannot be read or written; every step until then is sound.
   */
  clear(): Generator<'more' | 'held'>
  /** After the database itself: POSIX drops a process's locks on a file with any descriptor of it. */
  close(): void
}

/** Takes some milliseconds, also from a disk. */
const STEP_BYTES = 4 * 1024 * 1024
/** SQLite may start the log over from here, and then it no longer names all pages written since the last step. */
const CHECKPOINT_FRAMES = 1000
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** Where the first page's own header begins: the file's stands before it. */
const FILE_HEADER_BYTES = 100
/** Bytes of the header by the kind of page, in index and table, inner ones with a pointer more than leaves. */
const HEADER_BYTES: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 }
/** A free block within a page begins with where the next one is, and its own size. */
const FREE_BLOCK_HEADER_BYTES = 4

/**
 * Opens what `clear` needs when it is first called. It writes beside SQLite, where SQLite never looks: the file format
 * leaves these bytes unallocated, a torn write leaves old bytes or zeros, and a reader meanwhile reads either.
 *
 * A step begins with an empty log, which therefore shadows no page, and without the writer's cache, which therefore
 * brings no old page back. Old bytes move in one way only: SQLite exchanges the numbers of neighbouring pages when it
 * balances them, and so writes both. So a step also clears the pages that the log names, which were written since the
 * last one. Bytes that become slack meanwhile are of rows that were not erased.
 *
 * VACUUM does the same in one statement, which holds appends for 4 to 9 s at a million events.
 */
export function openSlack(db: Database.Database, stepBytes = STEP_BYTES): Slack {
  const pageBytes = Number(db.pragma('page_size', { simple: true }))
  const zeros = Buffer.alloc(pageBytes)
  let descriptor: number | null = null

  /** Clears the pages of `buffer`, which lie at `at` in the file. Returns how many bytes of slack held anything. */
  function clearPages(file: number, buffer: Buffer, at: number): number {
    let cleared = 0
    for (let from = 0; from + pageBytes <= buffer.length; from += pageBytes) {
      const page = buffer.subarray(from, from + pageBytes)
      for (const slack of unowned(page, at + from === 0 ? FILE_HEADER_BYTES : 0)) {
        const bytes = slack.to - slack.from
        if (page.compare(zeros, 0, bytes, slack.from, slack.to) !== 0)
          cleared += writeSync(file, zeros, 0, bytes, at + from + slack.from)
      }
    }
    return cleared
  }

  return {
    *clear() {
      if (db.memory) return
      descriptor ??= openSync(db.name, 'r+')
      const file = descriptor
      const buffer = Buffer.allocUnsafe(stepBytes)
      const clearFrom = (at: number, length: number) => {
        const bytes = readSync(file, buffer, 0, length, at)
        return { bytes, cleared: clearPages(file, buffer.subarray(0, bytes), at) }
      }
      let at = 0
      for (;;) {
        const written = new Set<number>()
        const noteWritten = () => {
          const pages = pagesInLog(db.name, pageBytes)
          if (pages.length >= CHECKPOINT_FRAMES) at = 0
          for (const page of pages) written.add(page)
        }
        noteWritten()
        while (!truncateLog(db)) {
          yield 'held'
          noteWritten()
        }
        db.pragma('shrink_memory')
        let cleared = 0
        for (const page of written) cleared += clearFrom((page - 1) * pageBytes, pageBytes).cleared
        const step = clearFrom(at, stepBytes)
        if (cleared + step.cleared > 0) fdatasyncSync(file)
        at += step.bytes
        if (step.bytes < stepBytes) return
        yield 'more'
      }
    },
    close() {
      if (descriptor !== null) closeSync(descriptor)
      descriptor = null
    },
  }
}

/** The numbers of the pages in a database's write-ahead log, in the order of its frames; some may be of older frames. */
function pagesInLog(file: string, pageBytes: number): number[] {
  if (!existsSync(`${file}-wal`)) return []
  const log = readFileSync(`${file}-wal`)
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  const frames = Math.max(0, Math.floor((log.length - LOG_HEADER_BYTES) / frameBytes))
  return Array.from({ length: frames }, (_, frame) => log.readUInt32BE(LOG_HEADER_BYTES + frame * frameBytes))
}

/**
 * The ranges of a b-tree page that hold nothing: between the pointers to its cells and the first of them, and in its
 * free blocks (https://sqlite.org/fileformat2.html, 1.6). None of any other page: `secure_delete` zeroes those
 * whole when they are freed, and their first byte, of a page's number, is below the kinds in a file under 137 GB.
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
