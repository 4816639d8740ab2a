import type { Http } from './http.ts'
import { asObject, stringField } from './json.ts'

/** Says something and waits for the whole answer. The same `clientMessageId` again is answered, and run, once. */
export async function sendMessage(http: Http, content: string, clientMessageId: string): Promise<string> {
  const answer = asObject(await http('POST', '/api/chat', { body: { content, clientMessageId } }), 'answer')
  return stringField(asObject(answer.reply, 'reply'), 'text')
}
