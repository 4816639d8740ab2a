import type { EventOf } from '../ledger/event.ts'
import { defineProjection } from './projection.ts'
import { createEntryWriter, RECALL_SCHEMA, RECALL_TABLES, type Speaker } from './recall-entries.ts'

const SAID = [
  'chat.message.received',
  'chat.reply.sent',
  'chat.reply.stopped',
  'sms.received',
  'sms.sent',
  'call.utterance.heard',
  'call.reply.spoken',
] as const
type Said = EventOf<(typeof SAID)[number]>

/** Types of events that add or remove entries. */
export const ENTRY_TYPES = [
  ...SAID,
  'memory.stored',
  'memory.deleted',
  'memory.sources.barred',
  'erased',
] as const

/**
 * The search index of recall: turns between owner and delegate, and memories. Conversations with guests and
 * internal events are excluded, so they can never surface as the owner's words. Deleting a memory also
 * removes its sources.
 */
export const recallProjection = defineProjection({
  name: 'recall',
  version: 4,
  tables: [...RECALL_TABLES, 'recall_guest_calls'],
  lagging: true,
  schema: `${RECALL_SCHEMA}
    CREATE TABLE recall_guest_calls (callSid TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const entries = createEntryWriter(db)
    const rememberGuest = db.prepare('INSERT OR IGNORE INTO recall_guest_calls VALUES (?)')
    const guestCall = db.prepare<[string], { callSid: string }>(
      'SELECT callSid FROM recall_guest_calls WHERE callSid = ?',
    )

    function addTurn(speaker: Speaker, { seq, at, conversationId, body }: Said): void {
      entries.addTurn({ seq, atMs: Date.parse(at), speaker, conversationId, text: body?.text ?? null })
    }
    const noteParty = ({ facts }: EventOf<'call.offered'> | EventOf<'call.connected'>) => {
      if (facts.party === 'guest') rememberGuest.run(facts.callSid)
    }
    const replied = (event: EventOf<'chat.reply.sent'> | EventOf<'chat.reply.stopped'>) =>
      addTurn('delegate', event)

    return {
      flush: entries.flush,
      discard: entries.discard,
      handlers: {
        'chat.message.received': (event) => {
          if (event.actor === 'owner') addTurn('owner', event)
        },
        'chat.reply.sent': replied,
        'chat.reply.stopped': replied,
        'sms.received': (event) => {
          if (event.facts.party === 'owner') addTurn('owner', event)
        },
        'sms.sent': (event) => {
          if (event.facts.party === 'owner') addTurn('delegate', event)
        },
        'call.offered': noteParty,
        'call.connected': noteParty,
        'call.utterance.heard': (event) => {
          if (event.facts.party === 'owner') addTurn('owner', event)
        },
        'call.reply.spoken': (event) => {
          if (!guestCall.get(event.facts.callSid)) addTurn('delegate', event)
        },
        'memory.stored': ({ seq, at, body }) =>
          entries.addMemory({ seq, atMs: Date.parse(at), text: body?.text ?? null }),
        'memory.deleted': ({ facts }) => entries.remove(facts.sourceSeqs),
        'memory.sources.barred': ({ facts }) => entries.remove(facts.sourceSeqs),
        erased: ({ facts }) => entries.remove(facts.seqs),
      },
    }
  },
})
