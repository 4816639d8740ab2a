import fc from 'fast-check'
import { Stream } from 'openai/streaming'
import { expect, test } from 'vitest'
import { createClientLoader } from '../../../src/model/openai/client.ts'
import { faultOf } from '../../../src/model/openai/failures.ts'
import { readStream, type StreamEvent } from '../../../src/model/openai/stream.ts'
import { systemTiming } from '../../../src/model/openai/timing.ts'
import { eventsOf } from '../../doubles/model/answer.ts'

const client = await createClientLoader(
  { baseUrl: 'http://model.test', authorization: null },
  { maxResponseBytes: 1_000_000 },
)()

/** Reads a response that arrives in these chunks. */
async function read(chunks: readonly Uint8Array[]): Promise<StreamEvent[]> {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const core = { where: 'http://model.test', timing: systemTiming }
  const stream = { response, events: Stream.fromSSEResponse(response, new AbortController(), client) }
  const events: StreamEvent[] = []
  for await (const event of readStream(core, stream, () => undefined)) events.push(event)
  return events
}

const bytes = (text: string) => new TextEncoder().encode(text)

/** A response as the service streams it, in one of the forms that the protocol allows. */
function streamed(
  deltas: readonly string[],
  form: { named: boolean; newline: string; done: boolean },
): string {
  const events = eventsOf({ text: deltas }, { model: 'm', number: 1, request: {} })
  const { named, newline, done } = form
  const frames = events.map((event) => {
    const lines = [`data: ${JSON.stringify(event)}`]
    return [...(named ? [`event: ${event.type}`] : [': a comment']), ...lines, '', ''].join(newline)
  })
  return frames.join('') + (done ? `data: [DONE]${newline}${newline}` : '')
}

test('reads the same events however they are chunked, named or not', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 4 }),
      fc.record({ named: fc.boolean(), newline: fc.constantFrom('\n', '\r\n'), done: fc.boolean() }),
      fc.array(fc.nat(), { maxLength: 12 }),
      async (deltas, form, cuts) => {
        const all = bytes(streamed(deltas, form))
        const places = [0, ...cuts.map((cut) => cut % all.length).sort((a, b) => a - b), all.length]
        const chunks = places.slice(1).map((end, index) => all.slice(places[index], end))
        const events = await read(chunks)
        expect(events.flatMap((event) => (event.type === 'delta' ? [event.text] : []))).toEqual(deltas)
        expect(events.at(-1)).toMatchObject({ type: 'finished', response: { status: 'completed' } })
      },
    ),
    { numRuns: 100 },
  )
})

test('fails on an event that is cut inside its JSON', async () => {
  const text = streamed(['tea'], { named: true, newline: '\n', done: false })
  const lastEvent = text.trimEnd().lastIndexOf('\n\n')
  for (let end = lastEvent + '\n\nevent: response.completed\ndata: {'.length; end < text.length - 2; end += 7)
    await expect(read([bytes(text.slice(0, end))])).rejects.toThrow(SyntaxError)
})

test('does not finish on an event without data', async () => {
  const text = streamed(['tea'], { named: true, newline: '\n', done: false })
  const events = await read([bytes(text.slice(0, text.trimEnd().lastIndexOf('\n\n') + 2))])
  expect(events).toEqual([{ type: 'delta', text: 'tea' }])
})

test('reads the last event of a stream that ends without a blank line', async () => {
  const text = streamed(['tea'], { named: true, newline: '\n', done: false })
  const events = await read([bytes(text.trimEnd())])
  expect(events.at(-1)).toMatchObject({ type: 'finished', response: { status: 'completed' } })
})

test.for([
  'event: error\ndata: {"type":"error","code":"server_error","message":"no more tea"}\n\n',
  'data: {"type":"error","code":"server_error","message":"no more tea"}\n\n',
  'event: error\ndata: {"error":{"code":"server_error","message":"no more tea"}}\n\n',
  'data: {"error":{"code":"server_error","message":"no more tea"}}\n\n',
])('reports an error from the service: %s', async (text) => {
  const error = await read([bytes(text)]).catch((thrown: unknown) => thrown)
  expect(faultOf(error, 0)).toMatchObject({ status: null, code: 'server_error', message: 'no more tea' })
})

test.for([
  'data: {"surprise":true}\n\n',
  'data: {"type":\n\n',
  'data: 7\n\n',
  'event: response.completed\ndata: {}\n\n',
])('rejects an unknown event: %s', async (text) => {
  await expect(read([bytes(text)])).rejects.toThrow()
})
