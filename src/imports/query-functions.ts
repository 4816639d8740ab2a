import { searchImported } from '../../projections/import-search.ts'
import {
  createImportQueries,
  type ImportedConversationRow,
  type ImportedPlace,
} from '../../projections/imports.ts'
import type { Sources, ThreadFunctions } from '../storage/function-thread.ts'

export type ListedConversation = ImportedConversationRow & {
  readonly title: string
  /** Of a search: where the words are, with marks around them. */
  readonly seq?: number
  readonly snippet?: string
}

export type ImportedMessage = {
  /** The fact that has it. */
  readonly seq: number
  readonly speaker: 'owner' | 'assistant'
  readonly at: string
  readonly text: string
}

export type ImportedListQuery = {
  /** Null for all. */
  readonly query: string | null
  readonly limit: number
  readonly after: ImportedPlace | null
}

/** What imports ask the query thread, because titles and messages are read from large facts. */
export const queryFunctions = {
  listImported: (sources: Sources) => {
    const queries = createImportQueries(sources.views)
    const titleOf = createTitles(sources)
    return ({ query, limit, after }: ImportedListQuery): ListedConversation[] => {
      const rows: Omit<ListedConversation, 'title'>[] =
        query === null ? queries.page(limit, after) : searchImported(sources.views, { query, limit, after })
      return rows.map((row) => ({ ...row, title: titleOf(row.id) }))
    }
  },

  /** The parts of a conversation after one, until there are `limit` messages; null if there is no such conversation. */
  readImported: (sources: Sources) => {
    const queries = createImportQueries(sources.views)
    const titleOf = createTitles(sources)
    return ({ id, afterSeq, limit }: { id: string; afterSeq: number; limit: number }) => {
      const conversation = queries.conversation(id)
      if (!conversation) return null
      const items: ImportedMessage[] = []
      const parts = queries.parts(id).filter(({ seq, erased }) => seq > afterSeq && erased === 0)
      let next: number | null = null
      for (const [index, { seq }] of parts.entries()) {
        const [event] = sources.ledger.readSeqs([seq])
        if (event?.type === 'import.conversation.added')
          items.push(...(event.body?.messages ?? []).map((message) => ({ seq, ...message })))
        if (items.length < limit) continue
        next = index + 1 < parts.length ? seq : null
        break
      }
      return { ...conversation, title: titleOf(id), items, next }
    }
  },
} as const satisfies ThreadFunctions

function createTitles({ views, ledger }: Pick<Sources, 'views' | 'ledger'>): (id: string) => string {
  const firstShown = views
    .prepare<[string], number>('SELECT min(seq) FROM imported_parts WHERE id = ? AND erased = 0')
    .pluck()
  return (id) => {
    const [event] = ledger.readSeqs([firstShown.get(id) ?? 0])
    return event?.type === 'import.conversation.added' ? (event.body?.title ?? '') : ''
  }
}
