import type { Database } from 'better-sqlite3'
import type { FactsOf } from '../ledger/events/catalogue.ts'
import { defineProjection } from './projection.ts'

export type ImportService = FactsOf<'import.conversation.added'>['service']

export type ImportRow = {
  importId: string
  /** The event with the name of the file. */
  startedSeq: number
  startedAt: string
  bytes: number
  status: 'running' | 'completed' | 'failed' | 'cancelled'
  endedAt: string | null
  reason: string | null
  /** That it added to, and messages that it added. */
  conversations: number
  messages: number
  known: number
  skipped: number
}

export type ImportedConversationRow = {
  /** `<service>-<id of the service>`. */
  id: string
  service: ImportService
  firstAt: string
  lastAt: string
  /** Without erased ones. */
  messages: number
}

export type ImportedPartRow = {
  seq: number
  id: string
  importId: string
  messages: number
  ownerMessages: number
  bytes: number
  firstAt: string
  lastAt: string
  /** 1 if erased, 2 if hidden until it is. */
  erased: number
}

export const importedId = ({
  service,
  conversationId,
}: Pick<FactsOf<'import.conversation.added'>, 'service' | 'conversationId'>): string =>
  `${service}-${conversationId}`

/** Imports, and the conversations that they added, as pointers to the events with the words. */
export const importsProjection = defineProjection({
  name: 'imports',
  version: 1,
  tables: ['imports', 'imported_parts', 'imported_conversations'],
  schema: `
    CREATE TABLE imports (
      importId TEXT PRIMARY KEY, startedSeq INTEGER NOT NULL, startedAt TEXT NOT NULL, bytes INTEGER NOT NULL,
      status TEXT NOT NULL, endedAt TEXT, reason TEXT, conversations INTEGER NOT NULL, messages INTEGER NOT NULL,
      known INTEGER NOT NULL, skipped INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE imported_parts (
      seq INTEGER PRIMARY KEY, id TEXT NOT NULL, importId TEXT NOT NULL, messages INTEGER NOT NULL,
      ownerMessages INTEGER NOT NULL, bytes INTEGER NOT NULL, firstAt TEXT NOT NULL, lastAt TEXT NOT NULL,
      erased INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX imported_parts_by_conversation ON imported_parts (id, seq);
    CREATE INDEX imported_parts_by_import ON imported_parts (importId, seq);
    CREATE TABLE imported_conversations (
      id TEXT PRIMARY KEY, service TEXT NOT NULL, firstAt TEXT NOT NULL, lastAt TEXT NOT NULL, messages INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX imported_conversations_by_date ON imported_conversations (lastAt, id);`,
  fold(db) {
    const start = db.prepare(
      "INSERT OR IGNORE INTO imports VALUES (?, ?, ?, ?, 'running', NULL, NULL, 0, 0, 0, 0)",
    )
    const end = db.prepare('UPDATE imports SET status = ?, endedAt = ?, reason = ? WHERE importId = ?')
    const count = db.prepare('UPDATE imports SET known = ?, skipped = ? WHERE importId = ?')
    const isOfImport = db.prepare('SELECT 1 FROM imported_parts WHERE id = ? AND importId = ? LIMIT 1')
    const grow = db.prepare(
      'UPDATE imports SET conversations = conversations + ?, messages = messages + ? WHERE importId = ?',
    )
    const add = db.prepare('INSERT INTO imported_parts VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)')
    const idAt = db.prepare<[number], string>('SELECT id FROM imported_parts WHERE seq = ?').pluck()
    const mark = db.prepare('UPDATE imported_parts SET erased = ? WHERE seq = ? AND erased = ?')
    const sum = db.prepare(`INSERT OR REPLACE INTO imported_conversations
      SELECT id, ?, min(firstAt), max(lastAt), sum(messages) FROM imported_parts
      WHERE id = ? AND erased = 0 GROUP BY id`)
    const drop = db.prepare('DELETE FROM imported_conversations WHERE id = ?')

    /** `id` begins with its service. */
    function refresh(id: string): void {
      if (sum.run(id.slice(0, id.indexOf('-')), id).changes === 0) drop.run(id)
    }

    function markAll(seqs: readonly number[], to: number, from: number): void {
      for (const seq of seqs) {
        const id = idAt.get(seq)
        if (id !== undefined && mark.run(to, seq, from).changes > 0) refresh(id)
      }
    }

    return {
      handlers: {
        'import.started': ({ seq, at, facts }) => void start.run(facts.importId, seq, at, facts.bytes),
        'import.conversation.added': ({ seq, facts, erased }) => {
          const { importId, messageIds, ownerMessages, bytes, firstAt, lastAt } = facts
          const id = importedId(facts)
          grow.run(isOfImport.get(id, importId) ? 0 : 1, messageIds.length, importId)
          add.run(seq, id, importId, messageIds.length, ownerMessages, bytes, firstAt, lastAt)
          if (erased) mark.run(1, seq, 0)
          refresh(id)
        },
        'import.completed': ({ at, facts: { importId, known, skipped } }) => {
          end.run('completed', at, null, importId)
          count.run(known, skipped, importId)
        },
        'import.failed': ({ at, facts }) => void end.run('failed', at, facts.reason, facts.importId),
        'import.cancelled': ({ at, facts }) => void end.run('cancelled', at, null, facts.importId),
        'erasure.requested': ({ facts }) => markAll(facts.seqs, 2, 0),
        'erasure.undone': ({ facts }) => markAll(facts.seqs, 0, 2),
        erased: ({ facts }) => {
          markAll(facts.seqs, 1, 0)
          markAll(facts.seqs, 1, 2)
        },
      },
    }
  },
})

/** A conversation's place in the list by date. */
export type ImportedPlace = { readonly lastAt: string; readonly id: string }

const BEFORE_ALL: ImportedPlace = { lastAt: '~', id: '' }

export function createImportQueries(views: Database) {
  const byId = views.prepare<[string], ImportRow>('SELECT * FROM imports WHERE importId = ?')
  const newest = views.prepare<[number], ImportRow>('SELECT * FROM imports ORDER BY startedSeq DESC LIMIT ?')
  const running = views.prepare<[], ImportRow>(
    "SELECT * FROM imports WHERE status = 'running' ORDER BY startedSeq",
  )
  const conversation = views.prepare<[string], ImportedConversationRow>(
    'SELECT * FROM imported_conversations WHERE id = ?',
  )
  const page = views.prepare<[{ lastAt: string; id: string; limit: number }], ImportedConversationRow>(
    `SELECT * FROM imported_conversations WHERE (lastAt, id) < (@lastAt, @id)
     ORDER BY lastAt DESC, id DESC LIMIT @limit`,
  )
  const parts = views.prepare<[string], ImportedPartRow>(
    'SELECT * FROM imported_parts WHERE id = ? ORDER BY seq',
  )
  const partAt = views.prepare<[number], ImportedPartRow>('SELECT * FROM imported_parts WHERE seq = ?')
  const shownOf = views.prepare<[string], ImportedPartRow>(
    'SELECT * FROM imported_parts WHERE importId = ? AND erased = 0 ORDER BY seq',
  )
  const count = views.prepare<[], number>('SELECT count(*) FROM imported_conversations').pluck()
  return {
    byId: (importId: string) => byId.get(importId),
    /** Newest first. */
    newest: (limit: number) => newest.all(limit),
    /** The first that has no outcome. */
    running: () => running.get(),
    /** All that have no outcome, oldest first. */
    unfinished: () => running.all(),
    /** Undefined once all of it is erased. */
    conversation: (id: string) => conversation.get(id),
    /** By date, latest first. */
    page: (limit: number, after: ImportedPlace | null) => page.all({ ...(after ?? BEFORE_ALL), limit }),
    count: () => count.get() ?? 0,
    /** All parts of a conversation, erased ones included. */
    parts: (id: string) => parts.all(id),
    partAt: (seq: number) => partAt.get(seq),
    /** The parts that an import added and that are not erased. */
    partsOf: (importId: string) => shownOf.all(importId),
  }
}

export type ImportQueries = ReturnType<typeof createImportQueries>
