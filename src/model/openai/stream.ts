import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import type { Stream } from 'openai/streaming'
import * as z from 'zod'
import { ModelError } from '../port.ts'
import { type OutputItem, outputItemSchema, type ResponseAnswer, responseSchema } from './answer.ts'
import type { OpenAiCore } from './core.ts'
import { reportedFault } from './failures.ts'

export type OpenStream = { readonly response: Response; readonly events: Stream<unknown> }

/** Sends the request. Resolves when the headers arrive. Abort `events.controller` to close the connection. */
export async function openStream(
  core: OpenAiCore,
  body: ResponseCreateParamsStreaming,
  signal: AbortSignal,
): Promise<OpenStream> {
  const client = await core.load()
  signal.throwIfAborted()
  const { response, data } = await client
    .post<Stream<unknown>>('/responses', { body, signal, stream: true })
    .withResponse()
  return { response, events: data }
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
  error: z.object({ code: z.string().nullish(), message: z.string().nullish() }),
}

/** Yields the relevant events and ends after `finished`. Any other event only resets the idle timeout. */
export async function* readStream(
  core: Pick<OpenAiCore, 'where' | 'timing'>,
  { response, events }: OpenStream,
  alive: () => void,
): AsyncGenerator<StreamEvent> {
  const contentType = response.headers.get('content-type') ?? ''
  if (contentType.includes('application/json')) {
    yield { type: 'finished', response: responseSchema.parse(await response.json()) }
    return
  }
  if (!contentType.includes('text/event-stream')) {
    events.controller.abort()
    throw new ModelError(
      'malformed',
      `The server at ${core.where} sent an unexpected content type: ${contentType || 'none'}.`,
    )
  }
  const iterator = events[Symbol.asyncIterator]()
  const parseEvent = createReader()
  let isFinished = false
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      alive()
      const event = parseEvent(next.value)
      if (event === null) continue
      isFinished = event.type === 'finished'
      yield event
      if (isFinished) return
    }
  } finally {
    if (isFinished) void drain(iterator, events.controller, core)
    else events.controller.abort()
  }
}

/** Reads the rest of the stream for at most a second, so that the connection can be reused. */
async function drain(
  iterator: AsyncIterator<unknown>,
  controller: AbortController,
  core: Pick<OpenAiCore, 'timing'>,
): Promise<void> {
  const cancel = core.timing.after(1000, () => controller.abort())
  const readAll = async () => {
    while (!(await iterator.next()).done);
  }
  // The answer is complete, so connection errors no longer matter.
  await Promise.allSettled([readAll()])
  cancel()
}

/** Parses the events of one stream; null for irrelevant ones. */
function createReader(): (raw: unknown) => StreamEvent | null {
  const items: OutputItem[] = []
  let previousPlace: string | null = null
  return (raw) => {
    const { type } = typeSchema.parse(raw)
    switch (type) {
      case 'response.output_text.delta': {
        const { delta, output_index, content_index } = eventSchemas[type].parse(raw)
        if (delta === '') return null
        const here = `${output_index}/${content_index}`
        // A second message or part starts a new paragraph.
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
        // Some servers leave `output` empty in the last event.
        const output = response.output.length > 0 ? response.output : items
        return { type: 'finished', response: { ...response, output, status: type.slice('response.'.length) } }
      }
      case 'error': {
        const { code, message } = eventSchemas[type].parse(raw)
        throw reportedFault(code, message ?? 'an error without a message')
      }
      default:
        return null
    }
  }
}
