import pLimit from 'p-limit'
import type { NewEvent, NewEventOf } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { type ImportQueries, type ImportRow, importedId } from '../../projections/imports.ts'
import { createReactor } from '../lib/reactor.ts'
import type { Storage } from '../storage/storage.ts'
import { addedFacts } from './parts.ts'
import type { ReadConversation } from './read/conversations.ts'
import { UnreadableExport } from './read/export-file.ts'
import { readExport } from './read/read-export.ts'
import type { UploadFiles } from './uploads.ts'

/** Facts of one append. Turns go between two of them. */
const APPEND_FACTS = 8

const BY_SERVICE = { actor: 'service', channel: 'system' } as const

/**
 * Imports uploaded files, one after the other. Adds only messages that are not there, so a crash or a second import of
 * the same file repeats nothing.
 */
export function createImporting(options: {
  readonly storage: Pick<Storage, 'append' | 'onHeadMoved'> & { readonly wholeLedger: LedgerReader }
  readonly queries: ImportQueries
  readonly files: UploadFiles
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}) {
  const { queries, files } = options
  const { append, onHeadMoved, wholeLedger } = options.storage
  /** Serializes adding and cancelling, so that an import adds nothing once it is cancelled. */
  const lock = pLimit(1)
  /** Of the import that runs. */
  let cancel: { readonly importId: string; readonly controller: AbortController } | null = null

  const reactor = createReactor<ImportRow>({
    onHeadMoved,
    areas: ['import'],
    next: () => queries.running(),
    stepOf: ({ importId }) => importId,
    run: ({ importId }, signal) => run(importId, signal),
    onFault: options.onFault,
  })

  async function run(importId: string, stopping: AbortSignal): Promise<void> {
    const controller = new AbortController()
    cancel = { importId, controller }
    try {
      await append([await outcomeOf(importId, AbortSignal.any([stopping, controller.signal]))])
      files.remove(importId)
    } catch (error) {
      // Cancelled: its fact is there already.
      if (!controller.signal.aborted) throw error
    } finally {
      cancel = null
    }
  }

  async function outcomeOf(importId: string, signal: AbortSignal): Promise<NewEvent> {
    if (!files.has(importId)) return failed(importId, 'file_missing')
    let known = 0
    let skipped = 0
    const adding = createAdding(signal)
    const compare = createComparison(importId)
    try {
      for await (const batch of readExport(files.pathOf(importId), options.nowMs(), signal)) {
        skipped += batch.skipped
        for (const conversation of batch.conversations) {
          await adding.before(conversation)
          const { fresh, earlier } = compare(conversation)
          known += earlier
          await adding.add(addedFacts(conversation, fresh, importId))
        }
      }
    } catch (error) {
      if (!(error instanceof UnreadableExport)) throw error
      await adding.flush()
      return failed(importId, error.reason)
    }
    await adding.flush()
    const isEmpty = known === 0 && queries.byId(importId)?.messages === 0
    return isEmpty
      ? failed(importId, 'nothing_found')
      : {
          type: 'import.completed',
          ...BY_SERVICE,
          key: endKey(importId),
          facts: { importId, known, skipped },
        }
  }

  /**
   * Finds the messages that no import has added, each once, and counts those of earlier imports. Those that this import
   * added before a restart, or that its file repeats, are neither. Erased ones stay erased. The pieces of a long
   * conversation are consecutive, so its known messages are read once.
   */
  function createComparison(importId: string) {
    let lastId = ''
    /** The import that has each known message. */
    let known = new Map<string, string>()
    return ({ service, id, messages }: ReadConversation) => {
      const conversationId = importedId({ service, conversationId: id })
      if (conversationId !== lastId) known = knownIn(conversationId)
      lastId = conversationId
      const earlier = messages.filter((message) => (known.get(message.id) ?? importId) !== importId).length
      const fresh = messages.filter((message) => !known.has(message.id) && known.set(message.id, importId))
      return { fresh, earlier }
    }
  }

  function knownIn(conversationId: string): Map<string, string> {
    const seqs = queries.parts(conversationId).map(({ seq }) => seq)
    return new Map(
      wholeLedger.readSeqs(seqs).flatMap((event) => {
        if (event.type !== 'import.conversation.added') return []
        const { importId, messageIds } = event.facts
        return messageIds.map((id): [string, string] => [id, importId])
      }),
    )
  }

  /** Appends facts a few at a time, so that a turn never waits for more than these. */
  function createAdding(signal: AbortSignal) {
    let pending: NewEventOf<'import.conversation.added'>[] = []

    const flush = () =>
      lock(async () => {
        signal.throwIfAborted()
        const facts = pending
        pending = []
        const added = facts.length === 0 ? null : await append(facts)
        // The views are behind, so what they lack would be added again and again.
        if (added?.status === 'duplicate') throw new Error('a message of an import is there already')
      })

    return {
      flush,
      /** Makes sure that the views show what was added to a conversation that a file has twice. */
      async before({ id }: ReadConversation): Promise<void> {
        if (pending.some(({ facts }) => facts.conversationId === id)) await flush()
      },
      async add(facts: readonly NewEventOf<'import.conversation.added'>[]): Promise<void> {
        for (const fact of facts) {
          pending.push(fact)
          if (pending.length === APPEND_FACTS) await flush()
        }
      },
    }
  }

  return {
    start: reactor.start,
    close: () => reactor.close(0),
    /** Ends an import; what it has added stays, and it adds nothing afterwards. False if it is over. */
    cancel: (importId: string): Promise<boolean> =>
      lock(async () => {
        if (queries.byId(importId)?.status !== 'running') return false
        const { status } = await append([
          {
            type: 'import.cancelled',
            actor: 'owner',
            channel: 'system',
            key: endKey(importId),
            facts: { importId },
          },
        ])
        if (cancel?.importId === importId) cancel.controller.abort(new Error('the import was cancelled'))
        files.remove(importId)
        return status === 'appended'
      }),
  }
}

const endKey = (importId: string) => `import-ended:${importId}`

const failed = (importId: string, reason: string): NewEvent => ({
  type: 'import.failed',
  ...BY_SERVICE,
  key: endKey(importId),
  facts: { importId, reason },
})
