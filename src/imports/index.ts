import { createImportQueries, type ImportRow } from '../../projections/imports.ts'
import type { ModelId, Usage } from '../model/port.ts'
import type { FunctionThread } from '../storage/function-thread.ts'
import { caughtUpWithin } from '../storage/index-wait.ts'
import type { Storage } from '../storage/storage.ts'
import { createImporting } from './importing.ts'
import type { ImportedListQuery, queryFunctions } from './query-functions.ts'
import { createReadings, type Learning } from './readings.ts'
import { createUploads } from './uploads.ts'

/** The functions of imports in the query thread. */
export const importQueries = new URL('./query-functions.ts', import.meta.url)
export type ImportQueryFunctions = typeof queryFunctions

export type Imports = ReturnType<typeof buildImports>

const SHOWN_IMPORTS = 50

/** Wires imports: uploads, what adds their conversations, pages and search of these, and memories from them. */
export function buildImports(options: {
  readonly storage: Storage
  readonly queries: FunctionThread<ImportQueryFunctions>
  readonly directory: string
  readonly learning: Learning
  readonly priceOf: (model: ModelId, usage: Usage) => number
  readonly mayLearn: () => boolean
  readonly isAnswering: () => boolean
  readonly isHalted: () => boolean
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}) {
  const { storage } = options
  const imports = createImportQueries(storage.views)
  const uploads = createUploads({ ...options, dataDir: options.directory })
  const importing = createImporting({ ...options, queries: imports, files: uploads.files })
  const readings = createReadings({ ...options, imports })

  const isRunning = (importId: string): boolean => imports.byId(importId)?.status === 'running'

  function present({ startedSeq, ...row }: ImportRow) {
    const [started] = storage.ledger.readSeqs([startedSeq])
    return { ...row, name: started?.type === 'import.started' ? (started.body?.name ?? '') : '' }
  }

  return {
    readings,
    uploads: {
      list: uploads.list,
      begin: uploads.begin,
      /** Adds a piece. Once the file is complete, its import starts; if that fails, the last piece can be sent again. */
      async write(importId: string, offset: number, piece: Uint8Array) {
        const written = await uploads.write(importId, offset, piece)
        if (typeof written === 'string' || written.receivedBytes < written.bytes) return written
        await storage.append([
          {
            type: 'import.started',
            actor: 'owner',
            channel: 'system',
            key: `import-started:${importId}`,
            facts: { importId, bytes: written.bytes },
            body: { name: written.name },
          },
        ])
        uploads.started(importId)
        return written
      },
    },
    /** The latest imports, newest first. */
    list: () => imports.newest(SHOWN_IMPORTS).map(present),
    /** Whether it may still add something. */
    isRunning,
    /** Ends an import or an upload; what it has added stays. False if there is none. */
    async cancel(importId: string): Promise<boolean> {
      if (await importing.cancel(importId)) return true
      if (!uploads.list().some((upload) => upload.importId === importId)) return false
      uploads.files.remove(importId)
      return true
    },
    /** Conversations by date, or those that match. */
    async conversations(query: ImportedListQuery) {
      if (query.query !== null) await caughtUpWithin(storage.catchUpLagging)
      return options.queries.ask('listImported', query)
    },
    conversationCount: imports.count,
    read: (id: string, afterSeq: number, limit: number) =>
      options.queries.ask('readImported', { id, afterSeq, limit }),
    /** The facts with the words of an import, or of a conversation. None of an import that runs: cancel it first. */
    seqsOf(kind: 'import' | 'imported', id: string): number[] {
      if (kind === 'imported') return imports.parts(id).map(({ seq }) => seq)
      const row = imports.byId(id)
      return row && !isRunning(id) ? [row.startedSeq, ...imports.partsOf(id).map(({ seq }) => seq)] : []
    },
    start(): void {
      uploads.start(isRunning)
      importing.start()
      readings.start()
    },
    async close(): Promise<void> {
      await Promise.all([importing.close(), readings.close()])
    },
  }
}
