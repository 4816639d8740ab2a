import type { Http } from './http.ts'

/** Ends a conversation for good: the next message starts a new one. */
export async function endConversation(http: Http, conversationId: string): Promise<void> {
  await http('POST', `/api/conversations/${encodeURIComponent(conversationId)}/end`)
}
