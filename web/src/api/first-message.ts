import type { Http } from './http.ts'
import { asObject, stringField } from './json.ts'

/** Sends a message and waits for the whole reply. Idempotent by `clientMessageId`. */
export async function sendMessage(http: Http, content: string, clientMessageId: string): Promise<string> {
  const answer = asObject(await http('POST', '/api/chat', { body: { content, clientMessageId } }), 'answer')
  return stringField(asObject(answer.reply, 'reply'), 'text')
}
