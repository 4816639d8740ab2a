import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import type { Stream } from 'openai/streaming'
import * as z from 'zod'
import { english } from '../../language/message.ts'
import { ModelError } from '../port.ts'
import { type OutputItem, outputItemSchema, type ResponseAnswer, responseSchema } from './answer.ts'
import type { OpenAiCore } from './core.ts'
import { reportedFault } from './failures.ts'

export type OpenStream = { readonly response: Response; readonly events: Stream<unknown> }

/** Sends the request. Resolves when the headers arrive. Abort `events.controller` to close the connection. */
export async function openStream(
  core: OpenAiCore,
  path: '/responses' | '/chat/completions',
  body: ResponseCreateParamsStreaming | ChatCompletionCreateParamsStreaming,
  signal: AbortSignal,
): Promise<OpenStream> {
  const client = await core.load()
  signal.throwIfAborted()
  const { response, data } = await client
    .post<Stream<unknown>>(path, { body, signal, stream: true })
    .withResponse()
  return { response, events: data }
}

/** How one API streams its answer. Each function throws ZodError for what it cannot read. */
export type StreamReader<E> = {
  /** Reads an answer that a server sends at once. */
  whole(body: unknown): E
  /** Null for an irrelevant event. */
  next(raw: unknown): E | null
  isLast(event: E): boolean
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

/** Yields the relevant events of a response and ends after `finished`. */
export function readStream(
  core: Pick<OpenAiCore, 'where' | 'timing'>,
  stream: OpenStream,
  alive: () => void,
): AsyncGenerator<StreamEvent> {
  return readEvents(core, stream, alive, {
    whole: (body) => ({ type: 'finished', response: responseSchema.parse(body) }),
    next: createReader(),
    isLast: ({ type }) => type === 'finished',
  })
}

/** Yields the relevant events and ends after the last one. Any other event only resets the idle timeout. */
export async function* readEvents<E>(
  core: Pick<OpenAiCore, 'where' | 'timing'>,
  { response, events }: OpenStream,
  alive: () => void,
  reader: StreamReader<E>,
): AsyncGenerator<E> {
  const contentType = response.headers.get('content-type') ?? ''
  if (contentType.includes('application/json')) {
    yield reader.whole(await response.json())
    return
  }
  if (!contentType.includes('text/event-stream')) {
    events.controller.abort()
    throw new ModelError(
      'malformed',
      english`The server at ${core.where} sent an unexpected content type: ${contentType || 'none'}.`,
    )
  }
  const iterator = events[Symbol.asyncIterator]()
  let isFinished = false
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      alive()
      const event = reader.next(next.value)
      if (event === null) continue
      isFinished = reader.isLast(event)
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
