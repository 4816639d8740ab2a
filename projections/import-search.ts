import type { Database } from 'better-sqlite3'
import type { ImportedConversationRow, ImportedPlace } from './imports.ts'
import { defineProjection } from './projection.ts'
import { type Found, foundColumns, snippetOf } from './search-snippet.ts'
import { toIndexed, toMatch, toPattern } from './search-text.ts'

/** Full-text search over imported conversations, apart from the timeline's. Lagging, as that one is. */
export const importSearchProjection = defineProjection({
  name: 'import_search',
  version: 1,
  tables: ['import_search'],
  lagging: true,
  schema: `
    CREATE VIRTUAL TABLE import_search USING fts5(text, columnsize=0,
      tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
    INSERT INTO import_search(import_search, rank) VALUES ('secure-delete', 1);`,
  fold(db) {
    const insert = db.prepare('INSERT INTO import_search(rowid, text) VALUES (?, ?)')
    const remove = db.prepare('DELETE FROM import_search WHERE rowid = ?')
    return {
      handlers: {
        'import.conversation.added': ({ seq, body }) => {
          if (body) insert.run(seq, toIndexed([body.title, ...body.messages.map(textOf)].join('\n')))
        },
        erased: ({ facts }) => {
          for (const seq of facts.seqs) remove.run(seq)
        },
      },
    }
  },
})

const textOf = ({ text }: { readonly text: string }): string => text

export type ImportedHit = ImportedConversationRow & {
  /** The part with the latest match. */
  readonly seq: number
  /** Matches are enclosed in U+0002 and U+0003. */
  readonly snippet: string
}

/** Conversations that match, by date, latest first. */
export function searchImported(
  views: Database,
  {
    query,
    limit,
    after,
  }: { readonly query: string; readonly limit: number; readonly after: ImportedPlace | null },
): ImportedHit[] {
  const match = toMatch(query)
  if (match === null) return []
  const found = views
    .prepare<
      [{ match: string; lastAt: string; id: string; limit: number }],
      ImportedConversationRow & { seq: number }
    >(
      `SELECT conversations.*, max(parts.seq) AS seq FROM import_search
       JOIN imported_parts AS parts ON parts.seq = import_search.rowid AND parts.erased = 0
       JOIN imported_conversations AS conversations USING (id)
       WHERE import_search MATCH @match AND (conversations.lastAt, conversations.id) < (@lastAt, @id)
       GROUP BY conversations.id ORDER BY conversations.lastAt DESC, conversations.id DESC LIMIT @limit`,
    )
    .all({ match, limit, lastAt: after?.lastAt ?? '~', id: after?.id ?? '' })
  const text = views.prepare<[string, number], Found>(
    `SELECT ${foundColumns('import_search', 0)} FROM import_search WHERE import_search MATCH ? AND rowid = ?`,
  )
  const pattern = toPattern(query)
  return found.map((row) => {
    const hit = text.get(match, row.seq)
    return { ...row, snippet: hit ? snippetOf(hit, pattern) : '' }
  })
}
