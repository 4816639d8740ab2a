import { watchPlace } from './files.ts'

/** Whether an open ledger's file, write-ahead log and log index are still in place. */
export type Places = {
  readonly hasFile: () => boolean
  readonly hasLog: () => boolean
  readonly hasIndex: () => boolean
}

/** Watches a database's files. Call it after a first read in WAL mode, which creates the log. */
export function watchFiles(file: string): Places {
  return { hasFile: watchPlace(file), hasLog: watchPlace(`${file}-wal`), hasIndex: watchPlace(`${file}-shm`) }
}
