import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ServiceFaultError } from '../../../src/model/openai/failures.ts'
import { readStream, type StreamEvent } from '../../../src/model/openai/stream.ts'
import { systemTiming } from '../../../src/model/openai/timing.ts'
import { eventsOf } from '../../doubles/model/answer.ts'

/** What is read of an answer that arrives in these pieces. */
async function read(chunks: readonly Uint8Array[]): Promise<StreamEvent[]> {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const core = { where: 'http://model.test', timing: systemTiming }
  const events: StreamEvent[] = []
  for await (const event of readStream(core, { response, close: () => undefined }, () => undefined))
    events.push(event)
  return events
}

const bytes = (text: string) => new TextEncoder().encode(text)

/** An answer as the service streams it, in one of the forms that the protocol allows. */
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

test('events are the same however they are cut up on the way, with names or without', async () => {
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

test('an event that is cut off is none', async () => {
  const text = streamed(['tea'], { named: true, newline: '\n', done: false })
  const events = await read([bytes(text.slice(0, -1))])
  expect(events.some((event) => event.type === 'finished')).toBe(false)
})

test.for([
  'event: error\ndata: {"type":"error","code":"server_error","message":"no more tea"}\n\n',
  'data: {"type":"error","code":"server_error","message":"no more tea"}\n\n',
  'event: error\ndata: {"error":{"code":"server_error","message":"no more tea"}}\n\n',
  'data: {"error":{"code":"server_error","message":"no more tea"}}\n\n',
])('a service that gives up is heard: %s', async (text) => {
  const reading = read([bytes(text)])
  await expect(reading).rejects.toBeInstanceOf(ServiceFaultError)
  await expect(reading).rejects.toMatchObject({ fault: { code: 'server_error', message: 'no more tea' } })
})

test.for([
  'data: {"surprise":true}\n\n',
  'data: {"type":\n\n',
  'data: 7\n\n',
  'event: response.completed\ndata: {}\n\n',
])('what is no event of the protocol is an error: %s', async (text) => {
  await expect(read([bytes(text)])).rejects.toThrow()
})
