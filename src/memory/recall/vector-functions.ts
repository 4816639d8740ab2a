import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { makeFile, viewsFile } from '../../../ledger/files.ts'
import type { Sources, ThreadFunctions } from '../../storage/function-thread.ts'
import { textOf } from './recollections.ts'
import { openVectorStore, type Placed, type VectorStore } from './vectors.ts'

export const vectorsFile = (directory: string): string => join(directory, 'vectors.sqlite')

export type ToEmbed = { readonly seq: number; readonly text: string }
export type Coverage = { readonly embedded: number; readonly total: number }

type OpenStore = { readonly model: string; readonly db: Database.Database; readonly store: VectorStore }

const openStores = new WeakMap<Sources, OpenStore>()

/**
 * The store for a model over this ledger; seqs of another ledger mean other events. If `model` is null, the
 * existing store, whatever its model. At most one store is open.
 */
function storeOf(sources: Sources, model: string | null): VectorStore {
  const wanted = model === null ? null : `${sources.ledger.id()} ${model}`
  const current = openStores.get(sources)
  if (current && (wanted === null || current.model === wanted)) return current.store
  current?.db.close()
  openStores.delete(sources)
  const opened = open(sources.directory, wanted) ?? recreate(sources.directory, wanted)
  openStores.set(sources, opened)
  return opened.store
}

/** Null if the file is damaged. */
function open(directory: string, wanted: string | null): OpenStore | null {
  const file = vectorsFile(directory)
  makeFile(file)
  const db = new Database(file)
  try {
    // Without a WAL, overwritten vectors remain nowhere on disk.
    db.pragma('journal_mode = DELETE')
    db.prepare('ATTACH ? AS views').run(viewsFile(directory))
    const model = wanted ?? modelIn(db)
    return { model, db, store: openVectorStore({ db, viewsSchema: 'views', model }) }
  } catch (error) {
    db.close()
    const code = error instanceof Database.SqliteError ? error.code : ''
    if (code !== 'SQLITE_NOTADB' && code !== 'SQLITE_CORRUPT') throw error
    return null
  }
}

function recreate(directory: string, wanted: string | null): OpenStore {
  rmSync(vectorsFile(directory), { force: true })
  const opened = open(directory, wanted)
  if (!opened) throw new Error('could not create the vector store')
  return opened
}

function modelIn(db: Database.Database): string {
  const isMade = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vector_model'").get() !== undefined
  return (isMade && db.prepare<[], string>('SELECT model FROM vector_model').pluck().get()) || ''
}

/** Functions of the vector thread, the only one that opens the vector file. */
export const vectorFunctions = {
  /** Texts of entries without a vector, newest first, and the current coverage. */
  toEmbed: (sources: Sources) => {
    const { ledger } = sources
    return ({ model, limit }: { readonly model: string; readonly limit: number }) => {
      const store = storeOf(sources, model)
      store.prune()
      const texts = ledger.readSeqs(store.missing(limit)).flatMap((event): ToEmbed[] => {
        const text = textOf(event)
        return text === null ? [] : [{ seq: event.seq, text }]
      })
      return { texts, ...store.coverage() }
    }
  },
  put: (sources: Sources) => {
    return ({
      model,
      vectors,
    }: {
      readonly model: string
      readonly vectors: readonly Placed[]
    }): Coverage => {
      const store = storeOf(sources, model)
      store.put(vectors)
      return store.coverage()
    }
  },
  nearest: (sources: Sources) => {
    type Asked = { readonly model: string; readonly vector: Float32Array; readonly limit: number }
    return ({ model, vector, limit }: Asked) => storeOf(sources, model).nearest(vector, limit)
  },
  /** Zeroes the vectors of these events, whatever their model. */
  forget: (sources: Sources) => (seqs: readonly number[]) => storeOf(sources, null).forget(seqs),
  /** Zeroes the vectors of entries that no longer exist. Call it once the index is caught up. */
  prune: (sources: Sources) => (_none: null) => storeOf(sources, null).prune(),
} as const satisfies ThreadFunctions
