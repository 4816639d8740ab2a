import { Kysely, SqliteDialect } from 'kysely'
import pLimit from 'p-limit'
import { buildErasing } from '../../src/erasing/index.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { TestQueries } from './queries.ts'
import { newId } from './writer.ts'

/** Erasing over a storage, without notes, spans, vectors or learning. */
export function openErasing(
  storage: Storage,
  queries: TestQueries,
  options: { readonly nowMs?: () => number; readonly onFault?: (error: unknown) => void } = {},
) {
  return buildErasing({
    storage,
    queries,
    kysely: new Kysely({ dialect: new SqliteDialect({ database: storage.views }) }),
    memory: {
      async forgettable(chosen) {
        await storage.catchUpLagging()
        return queries.ask('forgettable', chosen)
      },
      exclusively: pLimit(1),
    },
    forgetVectors: async () => undefined,
    spanSeqs: () => [],
    adaptationSeqs: () => [],
    importedSeqs: () => [],
    copiesFrom: () => [],
    backupsHolding: async () => null,
    removeAdaptationFiles: async () => undefined,
    nowMs: options.nowMs ?? Date.now,
    newId,
    onFault:
      options.onFault ??
      ((error) => {
        throw error
      }),
  })
}
