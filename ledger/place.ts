import { watchPlace } from './files.ts'

/**
 * Where the files of an open ledger are: `here`; `moved`, when the name no longer leads to the file; `log_lost`, when
 * the file is in place and its write-ahead log or the index of that is not.
 */
export type Place = 'here' | 'moved' | 'log_lost'

/** Tells where the files of a database are that a connection in WAL mode has just read from. */
export function watchFiles(file: string): () => Place {
  const isHere = watchPlace(file)
  const hasLog = watchPlace(`${file}-wal`)
  const hasIndex = watchPlace(`${file}-shm`)
  return () => {
    if (!isHere()) return 'moved'
    return hasLog() && hasIndex() ? 'here' : 'log_lost'
  }
}
