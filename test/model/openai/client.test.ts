import { expect, test } from 'vitest'
import { createClientLoader } from '../../../src/model/openai/client.ts'

const MAX_BYTES = 100_000

/** A client whose service answers with an endless body; how much of it was taken. */
async function endless(status: number, contentType: string) {
  let bytes = 0
  const body = () =>
    new ReadableStream({
      pull(controller) {
        bytes += 10_000
        controller.enqueue(new Uint8Array(10_000).fill(32))
      },
    })
  const fetch = async () => new Response(body(), { status, headers: { 'content-type': contentType } })
  const load = createClientLoader(
    { baseUrl: 'http://127.0.0.1:1', authorization: null },
    { maxResponseBytes: MAX_BYTES, fetch },
  )
  return { client: await load(), bytes: () => bytes }
}

test.for([
  [200, 'application/json'],
  [200, 'text/event-stream'],
  [200, 'text/plain'],
  [500, 'application/json'],
  [500, 'text/event-stream; charset=utf-8'],
] as const)(
  'of an answer that never ends, %i in %s, no more is read than is allowed',
  async ([status, contentType]) => {
    const { client, bytes } = await endless(status, contentType)
    await expect(client.embeddings.create({ model: 'm', input: 'tea' })).rejects.toThrow()
    // What the streams on the way hold is a chunk or two.
    expect(bytes()).toBeLessThanOrEqual(MAX_BYTES + 50_000)
  },
)

test('events are read as they come, and no more of them than is allowed', async () => {
  const { client, bytes } = await endless(200, 'text/event-stream')
  const events = await client.responses.create({ model: 'm', input: 'tea', stream: true })
  const readAll = async () => {
    for await (const event of events) expect(event).toBeUndefined()
  }
  await expect(readAll()).rejects.toThrow(`more than ${MAX_BYTES} bytes`)
  expect(bytes()).toBeLessThanOrEqual(MAX_BYTES + 50_000)
})
