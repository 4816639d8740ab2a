import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import type { StatePlaces } from './options.ts'
import type { StateFile } from './remote.ts'

export type State = ReturnType<typeof watchState>

/** Watches the small database and the files that lie beside the ledger, and says what has changed. */
export function watchState(directory: string, places: StatePlaces, isSent: boolean) {
  const file = join(directory, places.database)
  let db: Database.Database | null = null
  /** The version of the database that was sent last; null before that. */
  let sentVersion: unknown = null
  const sentFiles = new Map<string, string>()

  function databaseVersion(): unknown {
    if (!db && !existsSync(file)) return null
    db ??= new Database(file, { readonly: true, fileMustExist: true, timeout: 1_000 })
    return db.pragma('data_version', { simple: true })
  }

  function marks(): Map<string, string> {
    const folder = join(directory, places.directory)
    const names = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []
    return new Map(
      names.flatMap((entry) => {
        if (!entry.isFile()) return []
        const { mtimeMs, size } = statSync(join(folder, entry.name))
        return [[join(places.directory, entry.name), `${mtimeMs} ${size}`] as const]
      }),
    )
  }

  if (isSent) {
    sentVersion = databaseVersion()
    for (const [path, mark] of marks()) sentFiles.set(path, mark)
  }

  return {
    /** The database if it has changed since it was last sent. Call `sent` once it is. */
    changedDatabase(): { readonly files: readonly StateFile[]; readonly sent: () => void } {
      const version = databaseVersion()
      if (version === sentVersion || !db) return { files: [], sent: () => undefined }
      return {
        files: [{ path: places.database, bytes: db.serialize() }],
        sent() {
          sentVersion = version
        },
      }
    },
    /** The files that have changed or are gone since they were last sent. */
    changedFiles(): { readonly files: readonly StateFile[]; readonly sent: () => void } {
      const found = marks()
      const changed = [...found].filter(([path, mark]) => sentFiles.get(path) !== mark)
      const gone = [...sentFiles.keys()].filter((path) => !found.has(path))
      return {
        files: [
          ...changed.map(([path]) => ({ path, bytes: readFileSync(join(directory, path)) })),
          ...gone.map((path) => ({ path, bytes: null })),
        ],
        sent() {
          for (const [path, mark] of changed) sentFiles.set(path, mark)
          for (const path of gone) sentFiles.delete(path)
        },
      }
    },
    close(): void {
      db?.close()
    },
  }
}

/** Replaces the files beside the ledger, and leaves directories alone. Nothing may have them open. */
export function replaceState(directory: string, places: StatePlaces, files: readonly StateFile[]): void {
  const isPlace = (path: string) =>
    path === places.database || (dirname(path) === places.directory && basename(path) !== '..')
  const folder = join(directory, places.directory)
  const kept = new Set(files.map(({ path }) => path))
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [])
    if (entry.isFile() && !kept.has(join(places.directory, entry.name))) rmSync(join(folder, entry.name))
  for (const { path, bytes } of files) {
    if (!isPlace(path) || bytes === null) continue
    const target = join(directory, path)
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    writeFileSync(`${target}.new`, bytes, { mode: 0o600, flush: true })
    chmodSync(`${target}.new`, 0o600)
    if (path === places.database) rmSync(`${target}-journal`, { force: true })
    renameSync(`${target}.new`, target)
  }
}
