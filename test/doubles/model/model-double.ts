import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { loadOpenAiSpec, type OpenAiSpec, type SpecPath } from '../spec/openai-spec.ts'
import { type AnswerContext, eventsOf, type Json, outputOf, responseOf, statusOf, usageOf } from './answer.ts'
import { chunksOf, completionOf, type Dialect } from './completions.ts'
import { excessOf, misplacedRole, toldContext, truncated } from './context.ts'
import { embedText } from './embed.ts'
import { httpFaults, type Reply } from './script.ts'
import { sendJson, sendStream } from './send.ts'
import { sealCompaction, visibleText } from './visible-text.ts'
import { toneFor } from './wav.ts'

export type RecordedRequest = {
  readonly path: string
  readonly method: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed JSON. For a form: its fields, with a file as bytes. */
  readonly body: Json
  /** All text of the input that a model would read. */
  readonly text: string
  /** Resolves at the end of the exchange: `aborted` if the client left first. */
  readonly ended: Promise<'complete' | 'aborted'>
}

export type Answerer = (request: RecordedRequest) => Reply | Promise<Reply>

export type ModelDoubleOptions = {
  /** The required key; none by default. */
  readonly apiKey?: string
  readonly models?: readonly string[]
  /** Endpoints that answer 404. */
  readonly lacks?: readonly (SpecPath | '/models')[]
  /** How it speaks chat completions. */
  readonly dialect?: Dialect
  /** The context of its models. It tells the size as a server of the dialect does. A longer prompt is a violation. */
  readonly contextTokens?: number
  /** Answers to a GET of a path. */
  readonly gets?: Readonly<Record<string, () => Json>>
  /** Whether to check requests and answers against the official description, if present. */
  readonly validate?: boolean
  /** Whether to keep requests; turn off for long runs. */
  readonly record?: boolean
  /** Handles WebSocket upgrades, which are refused by default. */
  readonly onUpgrade?: (asked: IncomingMessage, socket: Duplex) => void
}

export type ModelDouble = {
  /** The base URL, with `/v1`. */
  readonly url: string
  /** All requests so far but GETs, which ask about the server, or those to one path. */
  requests(path?: string): readonly RecordedRequest[]
  connections(): number
  /** Resolves once `count` answers have reached a fault that never ends (hang, drip). */
  stalled(count: number): Promise<void>
  /** Queues answers to `/responses` and `/chat/completions`; each is used once. */
  reply(...replies: readonly Reply[]): void
  /** Answers both while nothing is queued. Without either, a request is a violation. */
  answerWith(answerer: Answerer): void
  /** Answers the requests of memory. By default, nothing is worth remembering. */
  answerMemoryWith(answerer: Answerer): void
  /** Answers `/responses/compact` once. By default, the item holds all readable text. */
  replyToCompaction(reply: Reply & { readonly output?: readonly Json[] }): void
  /** Answers `/audio/speech` as WAV while nothing is queued. By default, with a tone as long as the text. */
  speakWith(speaker: (text: string) => Uint8Array): void
  /** Answers `/audio/transcriptions` while nothing is queued. */
  transcribeWith(answerer: Answerer): void
  /** Answers another endpoint once. `text` is the transcript of `/audio/transcriptions`. */
  replyTo(path: '/embeddings' | '/audio/speech' | '/audio/transcriptions' | '/models', reply: Reply): void
  /** Closes the double. Throws if a request had no reply or anything violated the description. */
  close(): Promise<void>
}

const spec = loadOpenAiSpec()

/** The model service on loopback: responses, compaction, embeddings, models and audio, scripted by tests. */
export async function startModelDouble(options: ModelDoubleOptions = {}): Promise<ModelDouble> {
  const { apiKey, models = ['test-model'], lacks = [], dialect = 'openai' } = options
  const { validate = true, record = true, contextTokens = null } = options
  const checker: OpenAiSpec | null = validate ? spec : null
  if (validate && !spec)
    process.emitWarning('The official API description is absent: the model double validates nothing.')
  const recorded: RecordedRequest[] = []
  const queue: Reply[] = []
  const once = new Map<string, (Reply & { readonly output?: readonly Json[] })[]>()
  const violations: string[] = []
  let answerer: Answerer | null = null
  let memoryAnswerer: Answerer = () => ({ text: '{"candidates":[]}' })
  let speaker: (text: string) => Uint8Array = (text) => toneFor(text)
  let transcriber: Answerer = () => ({})
  let number = 0

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      violations.push(`the double failed: ${error instanceof Error ? error.stack : String(error)}`)
      response.destroy()
    })
  })
  server.keepAliveTimeout = 60_000
  if (options.onUpgrade) server.on('upgrade', options.onUpgrade)
  let stalls = 0
  const awaitingStalls: { readonly count: number; readonly resolve: () => void }[] = []
  const onStall = () => {
    stalls += 1
    for (const { count, resolve } of awaitingStalls) if (stalls >= count) resolve()
  }
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(incoming.url ?? '/', 'http://double').pathname.replace(/^\/v1/, '')
    const ended = new Promise<'complete' | 'aborted'>((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'complete' : 'aborted'))
    })
    const body = await readBody(incoming)
    let text: string | undefined
    const request: RecordedRequest = {
      path,
      method: incoming.method,
      headers: incoming.headers,
      body,
      // Lazy, so that it costs nothing where only time is measured.
      get text() {
        const { instructions = '', input = '', messages = '' } = body
        text ??= /responses|chat/.test(path) ? visibleText([instructions, input, messages]) : ''
        return text
      },
      ended,
    }
    if (record) recorded.push(request)
    const told =
      options.gets?.[path]?.() ??
      (contextTokens === null ? null : toldContext(dialect, models, contextTokens)[path])
    if (incoming.method === 'GET' && told) return await sendJson(response, told, {}, onStall)
    if (apiKey !== undefined && incoming.headers.authorization !== `Bearer ${apiKey}`) {
      return await sendJson(response, null, { fault: httpFaults.unauthorised() }, onStall)
    }
    if (lacks.some((each) => each === path))
      return await sendJson(response, null, { fault: httpFaults.notFound() }, onStall)
    if (incoming.method === 'POST') number += 1
    if (!isKnown(path)) return await sendJson(response, null, { fault: httpFaults.notFound() }, onStall)
    const isTurn = path === '/responses' || path === '/chat/completions'
    // The connection test asks with an empty body whether the path exists.
    if (isTurn && Object.keys(body).length === 0)
      return await sendJson(response, null, { fault: httpFaults.badRequest('Missing parameter.') }, onStall)
    const isChecked = dialect === 'openai' || path !== '/chat/completions'
    if (path !== '/models' && isChecked) note(path, 'request', checker?.request(path, body))
    if (isTurn) return await respond(path, request, response)
    const usual = path === '/audio/transcriptions' ? await transcriber(request) : {}
    const reply = once.get(path)?.shift() ?? usual
    await answerOther(path, request, reply, response)
  }

  async function respond(
    path: '/responses' | '/chat/completions',
    request: RecordedRequest,
    response: ServerResponse,
  ): Promise<void> {
    const excess = contextTokens === null ? 0 : excessOf(request.body, contextTokens)
    if (excess > 0) violations.push(`a prompt was ${excess} tokens longer than the context`)
    if (excess > 0 && dialect !== 'ollama')
      return await sendJson(response, null, { fault: httpFaults.contextTooLong() }, onStall)
    if (excess > 0) request = withBody(request, truncated(request.body, contextTokens ?? 0))
    const reply = isMemoryRequest(request)
      ? await memoryAnswerer(request)
      : (queue.shift() ?? (await answerer?.(request)))
    if (!reply) {
      violations.push(`no reply was scripted for a request to ${path}`)
      return await sendJson(response, null, { fault: httpFaults.serverError() }, onStall)
    }
    const { body } = request
    const context = { model: String(body.model), number, request: body }
    if (path === '/chat/completions') return await complete(reply, context, response)
    if (body.stream === true) {
      const events = eventsOf(reply, context)
      for (const event of events) note('/responses', `event ${event.type}`, checker?.streamEvent(event))
      const frames = events.map((event) => ({
        type: event.type,
        text: `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
      }))
      return await sendStream(response, frames, reply, onStall)
    }
    const answer = responseOf(reply, context, statusOf(reply), outputOf(reply, number))
    note('/responses', 'answer', checker?.answer('/responses', answer))
    await sendJson(response, answer, reply, onStall)
  }

  async function complete(reply: Reply, context: AnswerContext, response: ServerResponse): Promise<void> {
    const misplaced = misplacedRole(context.request)
    if (misplaced !== null) violations.push(misplaced)
    if (context.request.stream !== true) {
      const answer = completionOf(reply, context, dialect)
      if (dialect === 'openai')
        note('/chat/completions', 'answer', checker?.answer('/chat/completions', answer))
      return await sendJson(response, answer, reply, onStall)
    }
    const chunks = chunksOf(reply, context, dialect)
    for (const { body } of dialect === 'openai' ? chunks : [])
      note('/chat/completions', 'chunk', checker?.schema('CreateChatCompletionStreamResponse', body))
    const frames = chunks.map(({ type, body }) => ({ type, text: `data: ${JSON.stringify(body)}\n\n` }))
    const done = { type: 'done', text: 'data: [DONE]\n\n' }
    await sendStream(response, [...frames, done], reply, onStall)
  }

  async function answerOther(
    path: Exclude<SpecPath, '/responses' | '/chat/completions'> | '/models',
    request: RecordedRequest,
    reply: Reply & { readonly output?: readonly Json[] },
    response: ServerResponse,
  ): Promise<void> {
    const { body, text } = request
    if (path === '/audio/speech') {
      if (reply.fault) return await sendJson(response, null, reply, onStall)
      const isWav = body.response_format === 'wav'
      response.writeHead(200, { 'content-type': isWav ? 'audio/wav' : 'audio/mpeg' })
      response.end(isWav ? speaker(String(body.input)) : Buffer.from(`mp3:${String(body.input)}`))
      return
    }
    const answer = {
      '/models': () => ({
        object: 'list',
        data: models.map((id) => ({ id, object: 'model', created: 1, owned_by: 'test' })),
      }),
      '/audio/transcriptions': () => ({ text: [reply.text ?? 'what was said'].flat().join('') }),
      '/embeddings': () => embeddingAnswer(body),
      '/responses/compact': () => {
        const sealed = { type: 'compaction', id: `cmp_${number}`, encrypted_content: sealCompaction(text) }
        const output = reply.output ?? [sealed]
        const usage = usageOf(reply.usage ?? {}, body, output)
        return {
          id: `resp_${number}`,
          object: 'response.compaction',
          created_at: 1_780_000_000,
          output,
          usage,
        }
      },
    }[path]()
    if (path !== '/models') note(path, 'answer', checker?.answer(path, answer))
    await sendJson(response, answer, reply, onStall)
  }

  function note(path: string, what: string, errors: readonly string[] | undefined): void {
    for (const error of errors ?? []) violations.push(`${path} ${what}: ${error}`)
  }

  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests: (path) =>
      recorded.filter((request) => (path === undefined ? request.method !== 'GET' : request.path === path)),
    connections: () => connections,
    stalled: (count) =>
      new Promise((resolve) => {
        if (stalls >= count) resolve()
        else awaitingStalls.push({ count, resolve })
      }),
    reply: (...replies) => void queue.push(...replies),
    answerWith(next) {
      answerer = next
    },
    answerMemoryWith(next) {
      memoryAnswerer = next
    },
    speakWith(next) {
      speaker = next
    },
    transcribeWith(next) {
      transcriber = next
    },
    replyToCompaction: (reply) =>
      void once.set('/responses/compact', [...(once.get('/responses/compact') ?? []), reply]),
    replyTo: (path, reply) => void once.set(path, [...(once.get(path) ?? []), reply]),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (violations.length > 0) throw new Error(`model double: ${violations.join('\n')}`)
    },
  }
}

const withBody = (request: RecordedRequest, body: Json): RecordedRequest => ({
  ...request,
  body,
  text: visibleText([body.messages]),
})

const MEMORY_REQUESTS: ReadonlySet<unknown> = new Set(['memory_candidates', 'relevant_memories'])

/** Whether memory made the request, to extract or to recall. */
export function isMemoryRequest({ body }: Pick<RecordedRequest, 'body'>): boolean {
  const format = (body.text as { format?: { name?: unknown } } | undefined)?.format
  const asked = body.response_format as { json_schema?: { name?: unknown } } | undefined
  return MEMORY_REQUESTS.has(format?.name ?? asked?.json_schema?.name)
}

const PATHS = [
  '/responses',
  '/responses/compact',
  '/chat/completions',
  '/embeddings',
  '/audio/speech',
  '/audio/transcriptions',
  '/models',
] as const

function isKnown(path: string): path is (typeof PATHS)[number] {
  return PATHS.some((each) => each === path)
}

async function readBody(incoming: IncomingMessage): Promise<Json> {
  const bytes = await buffer(incoming)
  const type = incoming.headers['content-type'] ?? ''
  if (bytes.length === 0) return {}
  if (!type.startsWith('multipart/form-data')) return JSON.parse(bytes.toString('utf8')) as Json
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  const fields = [...form.entries()].map(async ([key, value]) => {
    return [
      key,
      typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('latin1'),
    ] as const
  })
  return Object.fromEntries(await Promise.all(fields))
}

function embeddingAnswer(body: Json): Json {
  const texts = Array.isArray(body.input) ? body.input.map(String) : [String(body.input)]
  const tokens = Math.ceil(texts.join('').length / 4)
  return {
    object: 'list',
    model: body.model,
    data: texts.map((text, index) => ({ object: 'embedding', index, embedding: embedText(text) })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('the double has no port')
  return address.port
}
