import type { NewEventOf } from '../../ledger/event.ts'
import { MOST_IMPORTED_MESSAGES } from '../../ledger/events/import.ts'
import type { ReadConversation, ReadMessage } from './read/conversations.ts'

/** What one fact holds at most, so that memory can read it in one request. A single message may be longer. */
const PART_CHARS = 12_000

/** The facts that add messages to a conversation. */
export function addedFacts(
  { service, id: conversationId, title }: ReadConversation,
  messages: readonly ReadMessage[],
  importId: string,
): NewEventOf<'import.conversation.added'>[] {
  return partsOf(messages).map((part) => {
    const times = part.map(({ at }) => at).sort()
    return {
      type: 'import.conversation.added',
      actor: 'service',
      channel: 'system',
      key: `imported:${service}:${conversationId}:${part[0]?.id}`,
      facts: {
        importId,
        service,
        conversationId,
        messageIds: part.map(({ id }) => id),
        firstAt: times[0] ?? '',
        lastAt: times.at(-1) ?? '',
        ownerMessages: part.filter(({ speaker }) => speaker === 'owner').length,
        bytes: part.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
      },
      body: { title, messages: part.map(({ speaker, at, text }) => ({ speaker, at, text })) },
    }
  })
}

function partsOf(messages: readonly ReadMessage[]): ReadMessage[][] {
  const parts: ReadMessage[][] = []
  let chars = 0
  for (const message of messages) {
    const last = parts.at(-1)
    const fits = last && last.length < MOST_IMPORTED_MESSAGES && chars + message.text.length <= PART_CHARS
    if (fits) last.push(message)
    else parts.push([message])
    chars = (fits ? chars : 0) + message.text.length
  }
  return parts
}
