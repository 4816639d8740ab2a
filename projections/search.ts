import type { Database } from 'better-sqlite3'
import type { EventOf } from '../ledger/event.ts'
import type { EventType } from '../ledger/events/catalogue.ts'
import { createSeparatorCleaner } from './fts-separators.ts'
import { defineProjection } from './projection.ts'
import { fromIndexed, toIndexed, toMatch } from './search-text.ts'

const TOKENIZER = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"

/**
 * Full-text search over what was said, texted and written. Lagging, because segment merges inside an append
 * cost twice the append; its own copy of the text lets an erasure find what to take out of the index.
 */
export const searchProjection = defineProjection({
  name: 'search',
  version: 2,
  tables: ['search_index', 'search_documents'],
  lagging: true,
  schema: `
    CREATE TABLE search_documents (seq INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
    CREATE VIRTUAL TABLE search_index USING fts5(text, content='search_documents', content_rowid='seq',
      tokenize="${TOKENIZER}");
    INSERT INTO search_index(search_index, rank) VALUES ('secure-delete', 1);`,
  fold(db) {
    const insertDocument = db.prepare('INSERT OR IGNORE INTO search_documents VALUES (?, ?)')
    const insertEntry = db.prepare('INSERT INTO search_index(rowid, text) VALUES (?, ?)')
    const document = db.prepare<[number], { text: string }>('SELECT text FROM search_documents WHERE seq = ?')
    const deleteEntry = db.prepare(
      "INSERT INTO search_index(search_index, rowid, text) VALUES ('delete', ?, ?)",
    )
    const deleteDocument = db.prepare('DELETE FROM search_documents WHERE seq = ?')
    const termsOf = createTokenizer(db)
    const cleanSeparators = createSeparatorCleaner(db, 'search_index')

    function index(seq: number, ...parts: readonly (string | undefined)[]): void {
      const text = toIndexed(parts.filter((part) => part !== undefined && part !== '').join('\n'))
      if (text === '' || insertDocument.run(seq, text).changes === 0) return
      insertEntry.run(seq, text)
    }

    /** The types whose body is one `text`. */
    const said = <T extends EventType>(
      event: EventOf<T> & { readonly body: { readonly text: string } | null },
    ) => {
      if (event.body) index(event.seq, event.body.text)
    }
    return {
      handlers: {
        'chat.message.received': said,
        'chat.reply.sent': said,
        'chat.reply.stopped': said,
        'sms.received': said,
        'sms.ignored': said,
        'sms.sent': said,
        'sms.failed': said,
        'proposal.made': said,
        'call.utterance.heard': said,
        'call.reply.spoken': said,
        'memory.stored': said,
        'task.finished': said,
        'task.failed': said,
        'note.created': ({ seq, body }) => index(seq, body?.title, body?.content),
        'note.updated': ({ seq, body }) => index(seq, body?.title, body?.content),
        'timer.set': ({ seq, body }) => index(seq, body?.title),
        'task.dispatched': ({ seq, body }) => index(seq, body?.title, body?.prompt),
        erased: ({ facts }) => {
          const deleted: string[] = []
          for (const seq of facts.seqs) {
            const indexed = document.get(seq)
            if (!indexed) continue
            deleteEntry.run(seq, indexed.text)
            deleteDocument.run(seq)
            deleted.push(indexed.text)
          }
          if (deleted.length > 0) cleanSeparators(termsOf(deleted))
        },
      },
    }
  },
})

/** The terms that the index has of texts, told by its own tokenizer: an index of these alone, in memory. */
function createTokenizer(db: Database): (texts: readonly string[]) => string[] {
  db.exec(`
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_tokens USING fts5(text, content='', tokenize="${TOKENIZER}");
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_token_terms USING fts5vocab(temp, search_tokens, row);`)
  const insert = db.prepare('INSERT INTO temp.search_tokens (text) VALUES (?)')
  const terms = db.prepare<[], string>('SELECT term FROM temp.search_token_terms').pluck()
  const empty = db.prepare("INSERT INTO temp.search_tokens (search_tokens) VALUES ('delete-all')")
  return (texts) => {
    for (const text of texts) insert.run(text)
    const found = terms.all()
    empty.run()
    return found
  }
}

export type SearchHit = { readonly seq: number; readonly snippet: string }

const SNIPPET_TOKENS = 24

/**
 * Events whose words match what a person typed, newest first (ranking 200,000 matches would take 100 ms), those
 * before `beforeSeq`. In a snippet the matches stand between U+0002 and U+0003, which no text holds.
 */
export function searchTimeline(
  views: Database,
  options: { readonly query: string; readonly limit: number; readonly beforeSeq: number | null },
): SearchHit[] {
  const match = toMatch(options.query)
  if (match === null) return []
  return views
    .prepare<[string, number, number], SearchHit>(
      `SELECT rowid AS seq, snippet(search_index, 0, char(2), char(3), '…', ${SNIPPET_TOKENS}) AS snippet
       FROM search_index WHERE search_index MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`,
    )
    .all(match, options.beforeSeq ?? Number.MAX_SAFE_INTEGER, options.limit)
    .map(({ seq, snippet }) => ({ seq, snippet: fromIndexed(snippet) }))
}
