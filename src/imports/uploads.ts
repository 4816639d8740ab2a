import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { open, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { diskCauseOf } from '../../ledger/causes.ts'
import { syncDirectory } from '../../ledger/files.ts'

export type Upload = {
  readonly importId: string
  readonly name: string
  readonly bytes: number
  readonly receivedBytes: number
}

type Entry = { -readonly [K in keyof Upload]: Upload[K] } & {
  isWriting: boolean
  readonly expiry: NodeJS.Timeout
}

const MAX_UPLOADS = 100
/** An upload that nobody continues is removed after this time. */
const IDLE_MS = 60 * 60_000

/** The uploaded files of imports that have not ended, which a restart keeps. */
export type UploadFiles = {
  has(importId: string): boolean
  pathOf(importId: string): string
  remove(importId: string): void
}

export type Uploads = ReturnType<typeof createUploads>

/**
 * Files that come in pieces, because a request may take only seconds. Each gets its name once it is complete and on
 * disk.
 */
export function createUploads(options: { readonly dataDir: string; readonly newId: () => string }) {
  const directory = join(options.dataDir, 'imports')
  const entries = new Map<string, Entry>()

  const pathOf = (importId: string) => join(directory, importId)
  const partialOf = (importId: string) => `${pathOf(importId)}.partial`
  const present = ({ importId, name, bytes, receivedBytes }: Entry): Upload => {
    return { importId, name, bytes, receivedBytes }
  }

  const unsent = ({ bytes, receivedBytes }: Entry) => bytes - receivedBytes

  function forget(importId: string): void {
    clearTimeout(entries.get(importId)?.expiry)
    entries.delete(importId)
  }

  const files: UploadFiles = {
    has: (importId) => existsSync(pathOf(importId)),
    pathOf,
    remove(importId) {
      forget(importId)
      for (const path of [pathOf(importId), partialOf(importId)]) rmSync(path, { force: true })
    },
  }

  async function store({ importId, bytes }: Entry, offset: number, piece: Uint8Array): Promise<void> {
    await using file = await open(partialOf(importId), offset === 0 ? 'w' : 'a', 0o600)
    // A piece that failed may have left a part of itself.
    await file.truncate(offset)
    await file.appendFile(piece)
    if (offset + piece.length < bytes) return
    await file.sync()
    renameSync(partialOf(importId), pathOf(importId))
    syncDirectory(directory)
  }

  return {
    files,
    /** Removes the files of all imports but those that `isRunning` names. */
    start(isRunning: (importId: string) => boolean): void {
      if (!existsSync(directory)) return
      for (const name of readdirSync(directory)) if (!isRunning(name)) rmSync(join(directory, name))
    },
    /** Uploads whose import has not started. */
    list: (): readonly Upload[] => [...entries.values()].map(present),
    async begin(name: string, bytes: number): Promise<Upload | 'too_many' | 'disk_full'> {
      if (entries.size >= MAX_UPLOADS) return 'too_many'
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      const { bavail, bsize } = await statfs(directory)
      const announced = [...entries.values()].reduce((sum, entry) => sum + entry.bytes + unsent(entry), 0)
      // The words of the conversations go into the ledger and the search index as well.
      if (bavail * bsize < announced + 2 * bytes) return 'disk_full'
      const importId = options.newId()
      const expiry = setTimeout(() => files.remove(importId), IDLE_MS).unref()
      const entry: Entry = { importId, name, bytes, receivedBytes: 0, isWriting: false, expiry }
      entries.set(importId, entry)
      return present(entry)
    },
    /**
     * Adds a piece at the end. `offset` is the number of bytes before it, so a repeated one adds nothing. Keeps a complete
     * file until `started`, and removes one that the disk has no room for.
     */
    async write(
      importId: string,
      offset: number,
      piece: Uint8Array,
    ): Promise<Upload | 'unknown' | 'wrong_offset' | 'disk_full'> {
      const entry = entries.get(importId)
      if (!entry) return 'unknown'
      const endsAt = offset + piece.length
      if (!entry.isWriting && endsAt === entry.receivedBytes) return present(entry)
      if (entry.isWriting || offset !== entry.receivedBytes || endsAt > entry.bytes) return 'wrong_offset'
      entry.isWriting = true
      entry.expiry.refresh()
      try {
        await store(entry, offset, piece)
        entry.receivedBytes = endsAt
      } catch (error) {
        if (diskCauseOf(error) !== 'full') throw error
        files.remove(importId)
        return 'disk_full'
      } finally {
        entry.isWriting = false
      }
      if (entries.has(importId)) return present(entry)
      files.remove(importId)
      return 'unknown'
    },
    /** Its import has started, which keeps the file until it ends. */
    started: forget,
  }
}
