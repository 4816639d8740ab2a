import type { Database } from 'better-sqlite3'
import type { EventOf } from '../ledger/event.ts'
import type { Handlers } from './projection.ts'
import type { Speaker } from './recall-entries.ts'

/** Types of events with words of the owner or the delegate. */
export const SAID = [
  'chat.message.received',
  'chat.reply.sent',
  'chat.reply.stopped',
  'sms.received',
  'sms.sent',
  'call.utterance.heard',
  'call.reply.spoken',
] as const
export type Said = EventOf<(typeof SAID)[number]>

/**
 * Handlers for what the owner and the delegate said to each other on any channel. Conversations with guests
 * are left out: a reply does not tell whose call it is, so `guestCalls` is a table of the guests' calls.
 */
export function saidHandlers(
  db: Database,
  guestCalls: string,
  add: (speaker: Speaker, event: Said) => void,
): Handlers {
  const rememberGuest = db.prepare(`INSERT OR IGNORE INTO ${guestCalls} VALUES (?)`)
  const guestCall = db.prepare<[string]>(`SELECT 1 FROM ${guestCalls} WHERE callSid = ?`)
  const noteParty = ({ facts }: EventOf<'call.offered'> | EventOf<'call.connected'>) => {
    if (facts.party === 'guest') rememberGuest.run(facts.callSid)
  }
  const heard = (event: EventOf<'sms.received'> | EventOf<'call.utterance.heard'>) => {
    if (event.facts.party === 'owner') add('owner', event)
  }
  return {
    'chat.message.received': (event) => {
      if (event.actor === 'owner') add('owner', event)
    },
    'sms.received': heard,
    'call.utterance.heard': heard,
    'chat.reply.sent': (event) => add('delegate', event),
    'chat.reply.stopped': (event) => add('delegate', event),
    'sms.sent': (event) => {
      if (event.facts.party === 'owner') add('delegate', event)
    },
    'call.offered': noteParty,
    'call.connected': noteParty,
    'call.reply.spoken': (event) => {
      if (!guestCall.get(event.facts.callSid)) add('delegate', event)
    },
  }
}
