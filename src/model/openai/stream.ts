import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import * as z from 'zod'
import { ModelError } from '../port.ts'
import { type OutputItem, outputItemSchema, type ResponseAnswer, responseSchema } from './answer.ts'
import type { OpenAiCore } from './core.ts'
import { ServiceFaultError } from './failures.ts'

export type OpenStream = {
  readonly response: Response
  /** Closes the connection, whatever is under way on it. */
  close(): void
}

/** Sends the request; resolves with the headers of the answer. */
export async function openStream(
  core: OpenAiCore,
  body: ResponseCreateParamsStreaming,
  signal: AbortSignal,
): Promise<OpenStream> {
  const client = await core.load()
  const transport = new AbortController()
  const bound = AbortSignal.any([signal, transport.signal])
  bound.throwIfAborted()
  const response = await client.post('/responses', { body, signal: bound }).asResponse()
  return { response, close: () => transport.abort() }
}

export type StreamEvent =
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'finished'; readonly response: ResponseAnswer }

const place = { output_index: z.int().catch(0), content_index: z.int().catch(0) }
const typeSchema = z.object({ type: z.string() })
const eventSchemas = {
  'response.output_text.delta': z.object({ ...place, delta: z.string() }),
  'response.output_item.done': z.object({ item: outputItemSchema }),
  'response.completed': z.object({ response: responseSchema }),
  'response.incomplete': z.object({ response: responseSchema }),
  'response.failed': z.object({ response: responseSchema }),
}
const errorEventSchema = z.object({
  code: z.string().nullish(),
  message: z.string().nullish(),
  error: z.object({ code: z.string().nullish(), message: z.string().nullish() }).nullish().catch(null),
})

const untypedErrorSchema = z.object({ type: z.undefined().optional(), error: z.looseObject({}) })

function faultIn(raw: unknown): ServiceFaultError {
  const { code, message, error } = errorEventSchema.parse(raw)
  return new ServiceFaultError({
    code: code ?? error?.code ?? null,
    message: message ?? error?.message ?? 'an error without words',
  })
}

/** Reads the events that matter; others only show that the service is alive. Ends after `finished`. */
export async function* readStream(
  core: Pick<OpenAiCore, 'where' | 'timing'>,
  stream: OpenStream,
  alive: () => void,
): AsyncGenerator<StreamEvent> {
  const { response } = stream
  const contentType = response.headers.get('content-type') ?? ''
  if (contentType.includes('application/json')) {
    yield { type: 'finished', response: responseSchema.parse(await response.json()) }
    return
  }
  if (!contentType.includes('text/event-stream')) {
    stream.close()
    throw new ModelError(
      'malformed',
      `The server at ${core.where} answered with ${contentType || 'no content type'}.`,
    )
  }
  const iterator = readMessages(response.body ?? [])
  const understand = createReader()
  let isFinished = false
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      alive()
      const event = understand(next.value)
      if (event === null) continue
      isFinished = event.type === 'finished'
      yield event
      if (isFinished) return
    }
  } finally {
    if (isFinished) void drain(iterator, stream, core)
    else stream.close()
  }
}

/** Reads to the end what follows the answer, so that the connection can be used again; for a second at most. */
async function drain(
  iterator: AsyncIterator<EventSourceMessage>,
  stream: OpenStream,
  core: Pick<OpenAiCore, 'timing'>,
): Promise<void> {
  const cancel = core.timing.after(1000, stream.close)
  const readAll = async () => {
    while (!(await iterator.next()).done);
  }
  // The answer is complete: how its connection ends is of no consequence.
  await Promise.allSettled([readAll()])
  cancel()
}

/** Server-sent events, as they come; what is cut off before its end is none. */
async function* readMessages(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder()
  const messages: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (message) => void messages.push(message) })
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* messages.splice(0)
  }
}

/**
 * Turns messages into the events that matter, null for the others. Holds the state of one stream. Those whose name says
 * that they do not matter are not parsed: the first two repeat the whole request, tools and all.
 */
function createReader(): (message: EventSourceMessage) => StreamEvent | null {
  const items: OutputItem[] = []
  let previousPlace: string | null = null
  return ({ event: name, data }) => {
    if (name?.startsWith('response.') && !(name in eventSchemas)) return null
    // How servers end a stream that follow an older API.
    if (data === '[DONE]') return null
    const raw: unknown = JSON.parse(data)
    // Some servers name no type when they give up.
    if (untypedErrorSchema.safeParse(raw).success) throw faultIn(raw)
    const { type } = typeSchema.parse(raw)
    switch (type) {
      case 'response.output_text.delta': {
        const { delta, output_index, content_index } = eventSchemas[type].parse(raw)
        if (delta === '') return null
        const here = `${output_index}/${content_index}`
        // A second message or part is a paragraph of its own.
        const isNewPart = previousPlace !== null && here !== previousPlace
        previousPlace = here
        return { type: 'delta', text: isNewPart ? `\n\n${delta}` : delta }
      }
      case 'response.output_item.done':
        items.push(eventSchemas[type].parse(raw).item)
        return null
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed': {
        const { response } = eventSchemas[type].parse(raw)
        // Some servers leave the output of the last event empty.
        const output = response.output.length > 0 ? response.output : items
        return { type: 'finished', response: { ...response, output, status: type.slice('response.'.length) } }
      }
      case 'error':
        throw faultIn(raw)
      default:
        return null
    }
  }
}
