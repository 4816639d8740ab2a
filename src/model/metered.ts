import * as z from 'zod'
import type { Connection } from './openai/openai.ts'
import {
  type CompactionModel,
  type EmbeddingModel,
  ModelError,
  type ModelFailureKind,
  type ModelId,
  NO_USAGE,
  type SpeechModel,
  type StructuredModel,
  type TextModel,
  type ToolSpec,
  type Usage,
  type Use,
} from './port.ts'
import { type ModelPrice, microsOf, toMicros } from './prices.ts'
import { mostItemTokens, mostTokens } from './tokens.ts'

/**
 * Money that is spent unless it is settled. Never rejects: without its settlement, it stays spent. The next
 * reservation waits for it, so nobody else has to.
 */
export type Reservation = { settle(micros: number): Promise<void> }

/** Counts what is spent. Implemented by operations. */
export type Meter = {
  priceOf(model: ModelId): ModelPrice
  /** Resolves once the amount is recorded as spent. Rejects with AllowanceSpent if it is not affordable. */
  reserve(use: Use, model: ModelId | null, micros: number): Promise<Reservation>
}

/** A request that ended. */
export type WatchedRequest = {
  readonly purpose: Use['purpose']
  readonly model: ModelId
  /** The kind of a failure. `aborted`: nobody waited for the end. */
  readonly outcome: 'ok' | ModelFailureKind | 'aborted'
  readonly seconds: number
  /** As the service counts it; zero if it did not report it. */
  readonly usage: Usage
}

export type ObserveRequest = (request: WatchedRequest) => void

/** Output tokens of one request, including its reasoning. */
const MOST_OUTPUT_TOKENS = 16_000
const MOST_STRUCTURED_TOKENS = 8_000
/** What a service may add to a request: the wrapping of tools and schemas. */
const OVERHEAD_TOKENS = 512
/** No model writes faster. */
const TOKENS_A_SECOND = 200

type Call = {
  readonly use: Use
  readonly model: ModelId
  readonly price: ModelPrice
  /** The most that the request can use; not asked for if it costs nothing. */
  readonly bound: () => Usage
}

export type Pay = {
  readonly meter: Meter
  readonly observe?: ObserveRequest
  readonly nowMs?: () => number
}

/**
 * A connection whose every request is paid: reserved as an upper bound before it is sent, and settled after it. Requests
 * of a model that costs nothing are sent as they are. Reports each request that ended to `observe`. A call reserves
 * its minutes itself.
 */
export function meterConnection(connection: Connection, pay: Pay): Connection {
  return {
    ...connection,
    chat(model, contextTokens) {
      const chat = connection.chat(model, contextTokens)
      return {
        text: paidText(chat.text, pay),
        ...(chat.context ? { context: chat.context } : {}),
        get compaction() {
          return chat.compaction && paidCompaction(chat.compaction, pay)
        },
      }
    },
    structured: (model) => paidStructured(connection.structured(model), pay),
    embedding(model) {
      const port = connection.embedding(model)
      return () => {
        const offered = port()
        return offered && paidEmbedding(offered, pay)
      }
    },
    speech: (models) => paidSpeech(connection.speech(models), pay),
  }
}

function paidText(text: TextModel, pay: Pay): TextModel {
  const toolTokens = createToolTokens()
  return {
    id: text.id,
    ...(text.asSent ? { asSent: text.asSent } : {}),
    async *respond(request, signal) {
      const price = pay.meter.priceOf(text.id)
      const { maxOutputTokens = MOST_OUTPUT_TOKENS, instructions, input, tools } = request
      const { use = { purpose: 'reply' } } = request
      const bound = () => {
        const sent = mostTokens(text.asSent?.(instructions) ?? instructions) + toolTokens(tools)
        return boundOf(sent + inputTokens(input), maxOutputTokens)
      }
      const payment = await begin(pay, { use, model: text.id, price, bound })
      try {
        const sent = isFree(price) ? request : { ...request, maxOutputTokens }
        for await (const event of text.respond(sent, signal)) {
          payment.hasAnswered()
          if (event.type === 'completed') payment.succeeded(event.usage)
          yield event
        }
      } catch (error) {
        payment.failed(error)
        throw error
      } finally {
        // For a consumer that leaves before the end.
        payment.failed(null)
      }
    },
  }
}

function paidStructured(model: StructuredModel, pay: Pay): StructuredModel {
  return {
    id: model.id,
    ...(model.context ? { context: model.context } : {}),
    async answer(request, signal) {
      const price = pay.meter.priceOf(model.id)
      const { maxOutputTokens = MOST_STRUCTURED_TOKENS, instructions, input, schema } = request
      const { use = { purpose: 'learning', channel: 'inner' } } = request
      const bound = () => {
        const sent = mostTokens(instructions) + mostTokens(JSON.stringify(z.toJSONSchema(schema)))
        return boundOf(sent + inputTokens(input), maxOutputTokens)
      }
      return once(pay, { use, model: model.id, price, bound }, () =>
        model.answer(isFree(price) ? request : { ...request, maxOutputTokens }, signal),
      )
    },
  }
}

function paidCompaction(model: CompactionModel, pay: Pay): CompactionModel {
  return {
    id: model.id,
    compact(request, signal) {
      const price = pay.meter.priceOf(model.id)
      const { use = { purpose: 'compaction', channel: 'inner' } } = request
      const bound = () => {
        const sent = mostTokens(request.instructions) + inputTokens(request.input)
        // What it returns replaces the input.
        return boundOf(sent, Math.min(sent, MOST_OUTPUT_TOKENS))
      }
      return once(pay, { use, model: model.id, price, bound }, () => model.compact(request, signal))
    },
  }
}

function paidEmbedding(model: EmbeddingModel, pay: Pay): EmbeddingModel {
  return {
    id: model.id,
    embed(texts, signal, use = { purpose: 'embedding', channel: 'inner' }) {
      const price = pay.meter.priceOf(model.id)
      const bound = () =>
        boundOf(
          texts.reduce((sum, text) => sum + mostTokens(text) + 1, 0),
          0,
        )
      return once(pay, { use, model: model.id, price, bound }, () => model.embed(texts, signal))
    },
  }
}

/** Few bytes of compressed speech in a second, so that a recording is not longer than it is taken for. */
const BYTES_A_SECOND = { wav: 8_000, mp3: 2_000, webm: 1_500, ogg: 1_500 } as const
const SPOKEN_CHARS_A_SECOND = 10

const WALKIE: Use = { purpose: 'speech', channel: 'chat' }

/** Speech is paid by its length, which the service does not report: what is reserved is spent. */
function paidSpeech(model: SpeechModel, { meter, nowMs = now, observe }: Pay): SpeechModel {
  async function* paid<T>(
    id: ModelId | null,
    use: Use,
    seconds: number,
    run: () => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const micros = id === null ? 0 : toMicros(((meter.priceOf(id).minute ?? 0) * seconds) / 60)
    const reservation = micros === 0 ? FREE : await meter.reserve(use, id, micros)
    const startedMs = nowMs()
    let outcome: WatchedRequest['outcome'] = 'aborted'
    let hasAnswered = false
    let cost = micros
    try {
      for await (const part of run()) {
        hasAnswered = true
        outcome = 'ok'
        yield part
      }
    } catch (error) {
      outcome = outcomeOf(error)
      if (!hasAnswered && isRejection(error)) cost = 0
      throw error
    } finally {
      void reservation.settle(cost)
      const seconds = (nowMs() - startedMs) / 1000
      if (id !== null) observe?.({ purpose: use.purpose, model: id, outcome, seconds, usage: NO_USAGE })
    }
  }
  async function result<T>(results: AsyncIterable<T>): Promise<T> {
    for await (const each of results) return each
    throw new TypeError('a request ended without a result')
  }
  return {
    ids: model.ids,
    transcribe: (audio, format, signal, of) => {
      const { use, seconds } = of ?? { use: WALKIE, seconds: audio.byteLength / BYTES_A_SECOND[format] }
      return result(
        paid(model.ids.transcription, use, seconds, async function* () {
          yield await model.transcribe(audio, format, signal, of)
        }),
      )
    },
    speak: (words, signal) =>
      result(
        paid(model.ids.speech, WALKIE, words.length / SPOKEN_CHARS_A_SECOND, async function* () {
          yield await model.speak(words, signal)
        }),
      ),
    stream: (words, signal, use = WALKIE) =>
      paid(model.ids.speech, use, words.length / SPOKEN_CHARS_A_SECOND, () =>
        model.stream(words, signal, use),
      ),
  }
}

async function once<T extends { readonly usage: Usage }>(
  pay: Pay,
  call: Call,
  run: () => Promise<T>,
): Promise<T> {
  const payment = await begin(pay, call)
  try {
    const result = await run()
    payment.succeeded(result.usage)
    return result
  } catch (error) {
    payment.failed(error)
    throw error
  }
}

/** Reserves a request, and settles it once. */
async function begin({ meter, nowMs = now, observe }: Pay, call: Call) {
  const { use, model, price } = call
  const bound = isFree(price) ? NO_USAGE : call.bound()
  const reservation = isFree(price) ? FREE : await meter.reserve(use, model, microsOf(price, bound))
  const startedMs = nowMs()
  let isSettled = false
  let isAnswered = false

  function end(outcome: WatchedRequest['outcome'], paid: Usage, usage: Usage): void {
    if (isSettled) return
    isSettled = true
    void reservation.settle(microsOf(price, paid))
    observe?.({ purpose: use.purpose, model, outcome, seconds: (nowMs() - startedMs) / 1000, usage })
  }

  return {
    succeeded: (usage: Usage) => end('ok', usage, usage),
    hasAnswered() {
      isAnswered = true
    },
    /**
     * The usage of a request that was cut off is unknown: its whole input counts, and as much output as a
     * model can write in that time. A rejected request costs nothing.
     */
    failed(error: unknown): void {
      const written = Math.ceil(((nowMs() - startedMs) / 1000) * TOKENS_A_SECOND)
      const cutOff = { ...bound, outputTokens: Math.min(bound.outputTokens, written) }
      end(outcomeOf(error), !isAnswered && isRejection(error) ? NO_USAGE : cutOff, NO_USAGE)
    },
  }
}

const REJECTIONS: ReadonlySet<ModelFailureKind> = new Set([
  'auth',
  'quota',
  'rate_limited',
  'unavailable',
  'context_too_long',
])

const isRejection = (error: unknown) => error instanceof ModelError && REJECTIONS.has(error.kind)

/** Adapters throw ModelErrors, apart from the reason of an abort. */
const outcomeOf = (error: unknown): WatchedRequest['outcome'] =>
  error instanceof ModelError ? error.kind : 'aborted'

const now = () => performance.now()

const FREE: Reservation = { settle: async () => undefined }

const isFree = ({ input, output }: ModelPrice) => input === 0 && output === 0

const boundOf = (sent: number, outputTokens: number): Usage => ({
  inputTokens: sent + OVERHEAD_TOKENS,
  outputTokens,
  cachedTokens: 0,
})

const inputTokens = (items: Parameters<TextModel['respond']>[0]['input']) =>
  items.reduce((sum, item) => sum + mostItemTokens(item), 0)

/** Counts the definitions of tools, each once: they never change. */
function createToolTokens() {
  const known = new WeakMap<z.ZodObject, number>()
  return (tools: readonly ToolSpec[]): number =>
    tools.reduce((sum, { name, description, parameters }) => {
      const tokens =
        known.get(parameters) ??
        mostTokens(`${name} ${description} ${JSON.stringify(z.toJSONSchema(parameters, { io: 'input' }))}`)
      known.set(parameters, tokens)
      return sum + tokens
    }, 0)
}
