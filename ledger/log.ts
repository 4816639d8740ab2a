import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { endianness } from 'node:os'

/** What SQLite's recovery would keep of a write-ahead log. A frame is one page of a commit. */
export type LogScan = {
  /** Frames that recovery keeps: up to the last commit before the first invalid frame. */
  readonly kept: number
  /** Bytes after the kept frames: leftovers, the torn tail of a power cut, or damage. */
  readonly droppedBytes: number
  /** Whether a frame with the current salts follows an invalid one. */
  readonly torn: boolean
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682
const EMPTY: LogScan = { kept: 0, droppedBytes: 0, torn: false }

/**
 * Reads a write-ahead log as SQLite's recovery does: salts must equal the header's, and checksums run from
 * the header through all frames. Changes nothing. Format: https://www.sqlite.org/fileformat2.html#walformat
 */
export function scanLog(file: string): LogScan {
  if (!existsSync(file)) return EMPTY
  const descriptor = openSync(file, 'r')
  try {
    const bytes = fstatSync(descriptor).size
    if (bytes === 0) return EMPTY
    const header = read(descriptor, 0, HEADER_BYTES)
    const pageBytes = header.length === HEADER_BYTES ? header.readUInt32BE(8) : 0
    const magic = header.length === HEADER_BYTES ? header.readUInt32BE(0) : 0
    const sum = createSum(magic === MAGIC + 1)
    sum.add(header.subarray(0, 24))
    const isValid = (magic === MAGIC || magic === MAGIC + 1) && pageBytes >= 512 && sum.equals(header, 24)
    if (!isValid) return { kept: 0, droppedBytes: bytes, torn: bytes > HEADER_BYTES }

    const frameBytes = FRAME_HEADER_BYTES + pageBytes
    const frames = Math.floor((bytes - HEADER_BYTES) / frameBytes)
    let kept = 0
    let isBroken = false
    let torn = false
    for (let index = 0; index < frames && !torn; index += 1) {
      const frame = read(descriptor, HEADER_BYTES + index * frameBytes, frameBytes)
      const isPresent = frame.compare(header, 16, 24, 8, 16) === 0
      if (isBroken) {
        torn = isPresent
        continue
      }
      sum.add(frame.subarray(0, 8))
      sum.add(frame.subarray(FRAME_HEADER_BYTES))
      isBroken = !isPresent || !sum.equals(frame, 16)
      torn = isBroken && isPresent
      const isCommit = frame.readUInt32BE(4) !== 0
      if (!isBroken && isCommit) kept = index + 1
    }
    return { kept, droppedBytes: bytes - HEADER_BYTES - kept * frameBytes, torn }
  } finally {
    closeSync(descriptor)
  }
}

function read(descriptor: number, offset: number, length: number): Buffer {
  const buffer = Buffer.alloc(length)
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, offset))
}

/** The log's checksum: two Fibonacci-weighted sums over words in the byte order of the magic. */
function createSum(bigEndian: boolean) {
  const isNative = bigEndian === (endianness() === 'BE')
  let first = 0
  let second = 0
  return {
    add(bytes: Buffer): void {
      const aligned = Buffer.from(bytes)
      if (!isNative) aligned.swap32()
      const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4)
      for (let index = 0; index < words.length; index += 2) {
        first = (first + (words[index] ?? 0) + second) >>> 0
        second = (second + (words[index + 1] ?? 0) + first) >>> 0
      }
    },
    /** Compares with the sums stored at `offset`, which are always big-endian. */
    equals: (bytes: Buffer, offset: number): boolean =>
      bytes.length >= offset + 8 &&
      bytes.readUInt32BE(offset) === first &&
      bytes.readUInt32BE(offset + 4) === second,
  }
}
