import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { makeFile, viewsFile } from '../../../ledger/files.ts'
import type { Sources, ThreadFunctions } from '../../storage/function-thread.ts'
import { textOf } from './recollections.ts'
import { openVectorStore, type VectorStore } from './vectors.ts'

export const vectorsFile = (directory: string): string => join(directory, 'vectors.sqlite')

export type Coverage = ReturnType<VectorStore['coverage']>

const stores = new WeakMap<Sources, VectorStore>()

/** The existing store, whatever its model. */
function storeOf(sources: Sources): VectorStore {
  const store = stores.get(sources) ?? open(sources.directory) ?? recreate(sources.directory)
  stores.set(sources, store)
  return store
}

/** The store for a model over this ledger; seqs of another ledger mean other events. */
function storeFor(sources: Sources, model: string): VectorStore {
  const store = storeOf(sources)
  store.use(`${sources.ledger.id()} ${model}`)
  return store
}

/** Null if the file is damaged. */
function open(directory: string): VectorStore | null {
  const file = vectorsFile(directory)
  makeFile(file)
  const db = new Database(file)
  try {
    // Without a WAL, overwritten vectors remain nowhere on disk.
    db.pragma('journal_mode = DELETE')
    db.prepare('ATTACH ? AS views').run(viewsFile(directory))
    return openVectorStore(db)
  } catch (error) {
    db.close()
    const code = error instanceof Database.SqliteError ? error.code : ''
    if (code !== 'SQLITE_NOTADB' && code !== 'SQLITE_CORRUPT') throw error
    return null
  }
}

function recreate(directory: string): VectorStore {
  rmSync(vectorsFile(directory), { force: true })
  const store = open(directory)
  if (!store) throw new Error('could not create the vector store')
  return store
}

/** Functions of the vector thread, the only one that opens the vector file. */
export const vectorFunctions = {
  /** Texts of entries without a vector, newest first, and the current coverage. */
  toEmbed:
    (sources: Sources) =>
    ({ model, limit }: { readonly model: string; readonly limit: number }) => {
      const store = storeFor(sources, model)
      store.prune()
      const texts = sources.ledger.readSeqs(store.missing(limit)).flatMap((event) => {
        const text = textOf(event)
        return text === null ? [] : [{ seq: event.seq, text }]
      })
      return { texts, ...store.coverage() }
    },
  put:
    (sources: Sources) =>
    ({ model, vectors }: { readonly model: string; readonly vectors: Parameters<VectorStore['put']>[0] }) => {
      const store = storeFor(sources, model)
      store.put(vectors)
      return store.coverage()
    },
  nearest:
    (sources: Sources) =>
    (asked: { readonly model: string; readonly vector: Float32Array; readonly limit: number }) =>
      storeFor(sources, asked.model).nearest(asked.vector, asked.limit),
  /** Zeroes the vectors of these events, whatever their model. */
  forget: (sources: Sources) => (seqs: readonly number[]) => storeOf(sources).forget(seqs),
  /** Zeroes the vectors of entries that no longer exist. Call it once the index is caught up. */
  prune: (sources: Sources) => (_none: null) => storeOf(sources).prune(),
} as const satisfies ThreadFunctions
