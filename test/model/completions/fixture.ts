import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { setUp } from '../openai/fixture.ts'
import { startRawServer } from '../openai/raw-server.ts'

export type Sent = {
  readonly path: string | undefined
  readonly body: Readonly<Record<string, unknown>> & { readonly messages?: readonly SentMessage[] }
}
export type SentMessage = { readonly role: string; readonly content: string | null }

/** A service over a server that answers each request with the next list of chunks, or with a status and JSON. */
export async function startScripted(
  ...answers: readonly (readonly unknown[] | { readonly status: number; readonly json: unknown })[]
) {
  const sent: Sent[] = []
  const left = [...answers]
  const baseUrl = await startRawServer(async (incoming: IncomingMessage, response) => {
    sent.push({ path: incoming.url, body: (await json(incoming)) as Sent['body'] })
    const answer = left.shift() ?? []
    if ('status' in answer) {
      const text = JSON.stringify(answer.json)
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      response.writeHead(answer.status, headers).end(text)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(answer.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''))
  })
  const { another } = await setUp()
  return {
    service: another({ baseUrl }),
    responses: another({ baseUrl, api: 'responses' }),
    completions: another({ baseUrl, api: 'completions' }),
    sent,
  }
}

/** A chunk with a delta. */
export const chunk = (delta: unknown, finishReason: string | null = null) => ({
  choices: [{ delta, finish_reason: finishReason }],
})
