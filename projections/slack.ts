import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { truncateLog } from '../ledger/ledger.ts'

/** A step takes a few milliseconds. */
const STEP_BYTES = 4 * 1024 * 1024
/** From this size on SQLite may restart the log, and pages written since the last step go unlisted. */
const CHECKPOINT_FRAMES = 1000
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The first page starts with the file header. */
const FILE_HEADER_BYTES = 100
/** Size of a b-tree page header by page type; interior pages have an extra pointer. */
const HEADER_BYTES: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 }
/** A free block starts with the offset of the next one and its own size. */
const FREE_BLOCK_HEADER_BYTES = 4

export type Slack = ReturnType<typeof openSlack>

/**
 * Clears the unallocated bytes of a database's pages. When SQLite moves a row, it leaves the old bytes behind,
 * even with `secure_delete`, so erased words may remain there until another row overwrites them.
 *
 * Writes to the file directly, only to bytes that the file format leaves unallocated: SQLite never reads
 * them, so a torn write or a concurrent reader does no harm.
 *
 * Each step starts with an empty log, which shadows no page, and an empty page cache, which cannot write an
 * old page back. Old bytes move only when SQLite swaps neighbouring pages while balancing, which writes both.
 * So a step also clears the pages listed in the log, which were written since the last step. Slack that
 * appears meanwhile comes from rows that were not erased.
 *
 * VACUUM would do the same in one statement, but blocks appends for 4 to 9 s at a million events.
 */
export function openSlack(db: Database.Database, stepBytes = STEP_BYTES) {
  const pageBytes = Number(db.pragma('page_size', { simple: true }))
  const zeros = Buffer.alloc(pageBytes)
  let descriptor: number | null = null

  /** Clears the pages in `buffer`, read from offset `at`. Returns the number of bytes written. */
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
    /** Close the database first: closing any descriptor drops the process's POSIX locks on the file. */
    close(): void {
      if (descriptor !== null) closeSync(descriptor)
      descriptor = null
    },
  }
}

/** The page numbers in a database's write-ahead log; stale frames may be included. A power cut may leave frames of zeros. */
function pagesInLog(file: string, pageBytes: number): number[] {
  if (!existsSync(`${file}-wal`)) return []
  const log = readFileSync(`${file}-wal`)
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  const frames = Math.max(0, Math.floor((log.length - LOG_HEADER_BYTES) / frameBytes))
  const pages = Array.from({ length: frames }, (_, frame) =>
    log.readUInt32BE(LOG_HEADER_BYTES + frame * frameBytes),
  )
  return pages.filter((page) => page > 0)
}

/**
 * The unallocated ranges of a b-tree page: the gap before its first cell, and its free blocks
 * (https://sqlite.org/fileformat2.html, 1.6). Yields nothing for other pages: `secure_delete` zeroes them
 * when they are freed, and below 137 GB their first byte, part of a page number, is no b-tree page type.
 */
function* unowned(page: Buffer, header: number): Generator<{ from: number; to: number }> {
  const headerBytes = HEADER_BYTES[page[header] ?? 0]
  if (headerBytes === undefined) return
  const cells = page.readUInt16BE(header + 3)
  // 0 encodes 65,536.
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
    // Free blocks ascend; anything else is damage, so leave it alone.
    if (next <= block) return
    block = next
  }
}
