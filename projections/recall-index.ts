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
 * internal events are excluded, so they can never surface as the owner's words. Deleting a memory also
 * removes its sources.
 */
export const recallProjection = defineProjection({
  name: 'recall',
  version: 8,
  tables: [...RECALL_TABLES, 'recall_guest_calls'],
  lagging: true,
  schema: `${RECALL_SCHEMA}
    CREATE TABLE recall_guest_calls (callSid TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const entries = createEntryWriter(db)
    const said = saidHandlers(db, 'recall_guest_calls', (speaker, { seq, at, conversationId, body }) =>
      entries.addTurn({ seq, atMs: Date.parse(at), speaker, conversationId, text: body?.text ?? null }),
    )
    return {
      flush: entries.flush,
      discard: entries.discard,
      handlers: {
        ...said,
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
