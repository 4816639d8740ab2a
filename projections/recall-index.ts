import { defineProjection } from './projection.ts'
import { createEntryWriter, RECALL_SCHEMA, RECALL_TABLES } from './recall-entries.ts'
import { SAID, saidHandlers } from './said.ts'

/** Types of events that add or remove entries. */
export const ENTRY_TYPES = [
  ...SAID,
  'memory.stored',
  'memory.deleted',
  'memory.sources.barred',
  'memory.sources.kept',
  'erased',
] as const

/**
 * The search index of recall: turns between owner and delegate, and memories. Conversations with guests and
 * internal events are excluded, so they can never surface as the owner's words. So are stock replies, and those
 * of the builtin model, which hold nothing that the owner's messages do not. Deleting a memory also removes its
 * sources.
 */
export const recallProjection = defineProjection({
  name: 'recall',
  version: 9,
  tables: [...RECALL_TABLES, 'recall_guest_calls', 'recall_builtin_turns'],
  lagging: true,
  schema: `${RECALL_SCHEMA}
    CREATE TABLE recall_guest_calls (callSid TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
    CREATE TABLE recall_builtin_turns (turnId TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const entries = createEntryWriter(db)
    const rememberBuiltin = db.prepare('INSERT OR IGNORE INTO recall_builtin_turns VALUES (?)')
    const builtinTurn = db.prepare<[string | null]>('SELECT 1 FROM recall_builtin_turns WHERE turnId = ?')
    const said = saidHandlers(
      db,
      'recall_guest_calls',
      (speaker, { seq, at, turnId, conversationId, body }) => {
        const isBuiltin = speaker === 'delegate' && builtinTurn.get(turnId) !== undefined
        // It keeps its place: what surrounds it is not adjacent.
        const text = isBuiltin ? null : (body?.text ?? null)
        entries.addTurn({ seq, atMs: Date.parse(at), speaker, conversationId, text })
      },
    )
    return {
      flush: entries.flush,
      discard: entries.discard,
      handlers: {
        ...said,
        'turn.started': ({ turnId, facts }) => {
          if (facts.model.provider === 'builtin') rememberBuiltin.run(turnId)
        },
        'memory.stored': ({ seq, at, body }) =>
          entries.addMemory({ seq, atMs: Date.parse(at), text: body ? searchedText(body) : null }),
        'memory.deleted': ({ facts }) => entries.remove(facts.sourceSeqs),
        'memory.sources.barred': ({ facts }) => entries.bar(facts.sourceSeqs),
        'memory.sources.kept': ({ facts }) => entries.unbar(facts.sourceSeqs),
        erased: ({ facts }) => entries.remove(facts.seqs),
      },
    }
  },
})

type Searched = {
  readonly subject: string
  readonly slot: string
  readonly text: string
  readonly keywords?: readonly string[] | undefined
}

/** A memory is found by what it is about, too: "Lives at 14 Weavers Rise" by "address". */
function searchedText({ subject, slot, text, keywords = [] }: Searched): string {
  return [subject === 'owner' ? '' : subject, slot, text, keywords.join(' ')]
    .filter((part) => part !== '')
    .join('. ')
}
