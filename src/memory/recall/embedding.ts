import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { SubscribeHead } from '../../../ledger/follow.ts'
import { leftOfWait } from '../../lib/waits.ts'
import { type EmbeddingModel, ModelError } from '../../model/port.ts'
import { type FunctionThreadOptions, openFunctionThread } from '../../storage/function-thread.ts'
import { type Coverage, type VectorThread, type vectorFunctions, vectorsFile } from './vector-functions.ts'
import type { Near } from './vectors.ts'

/** Status of recall by embeddings. */
export type EmbeddingState = {
  /** Null if no embedding model is configured; then nothing is sent anywhere. */
  readonly model: string | null
  readonly state: 'off' | 'up_to_date' | 'embedding' | 'waiting'
  /** Turns and memories that have a vector, out of `total`. */
  readonly embedded: number
  readonly total: number
  readonly failures: number
  readonly lastFailure: { readonly at: string; readonly kind: string } | null
  readonly retryAt: string | null
}

/** Keeps vectors for all recall entries, in the background. */
export type Embedding = {
  start(): void
  /** Entries similar in meaning to a text, or null if unavailable. Counts failures; never rejects. */
  near(text: string): Promise<readonly Near[] | null>
  /** Whether the last request took at most `ms`. */
  answersWithin(ms: number): boolean
  state(): EmbeddingState
  close(): Promise<void>
}

/** The vector file and its thread. */
export type Vectors = {
  readonly thread: VectorThread
  /** Resolves when the vectors of these events are overwritten on disk. */
  forget(seqs: readonly number[]): Promise<void>
  /** Does the same for entries that left the index. Call it once the index is caught up. */
  prune(): Promise<void>
  close(): Promise<void>
}

/** Events that add or remove recall entries. */
const EMBEDDED = ['chat', 'call', 'sms', 'memory', 'erased'] as const
const BATCH = 64
const NEAREST = 50
const CUE_TIMEOUT_MS = 5000
const BATCH_TIMEOUT_MS = 60_000
const FIRST_RETRY_MS = 5000
const MAX_RETRY_MS = 60 * 60_000
/** How long to collect new entries before embedding them in one batch. */
const GATHER_MS = 1000
/** Longest sleep: clocks jump, and settings change without an event. */
const MAX_SLEEP_MS = 60_000
/** The start of a long cue is enough to show its topic. */
const MAX_CUE_CHARS = 4000

/** Overrides of GATHER_MS and CUE_TIMEOUT_MS. */
export type EmbeddingWaits = {
  readonly gatherMs?: number
  readonly cueTimeoutMs?: number
}

/** Opens the vectors of a data directory. The thread starts on first use. */
export function openVectors(directory: string, options: FunctionThreadOptions = {}): Vectors {
  const url = new URL('./vector-thread.ts', import.meta.url)
  const thread = openFunctionThread<typeof vectorFunctions>(url, directory, options)
  return {
    thread,
    // Vectors of a previous model may exist even if no model is configured.
    async forget(seqs) {
      if (existsSync(vectorsFile(directory))) await thread.ask('forget', seqs)
    },
    async prune() {
      if (existsSync(vectorsFile(directory))) await thread.ask('prune', null)
    },
    close: thread.close,
  }
}

export function createEmbedding(
  options: {
    readonly vectors: Vectors
    readonly model: () => EmbeddingModel | null
    /** Resolves when the indexes have every event that is durable now. */
    readonly caughtUp: () => Promise<void>
    readonly onHeadMoved: SubscribeHead
    readonly nowMs: () => number
    readonly log: { warn(fields: object, message: string): void }
  } & EmbeddingWaits,
): Embedding {
  const { vectors, caughtUp, nowMs, gatherMs = GATHER_MS, cueTimeoutMs = CUE_TIMEOUT_MS } = options
  const { thread } = vectors
  const closing = new AbortController()
  let wake = Promise.withResolvers<void>()
  let loop: Promise<void> = Promise.resolve()
  let unsubscribe: (() => void) | null = null
  let coverage: Coverage = { embedded: 0, total: 0 }
  let isEmbedding = false
  let failures = 0
  let failuresInARow = 0
  let lastFailure: EmbeddingState['lastFailure'] = null
  let retryAtMs: number | null = null
  let failedModel: string | null = null
  /** Infinite after a failure. */
  let lastRequestMs = Number.POSITIVE_INFINITY

  function failed(error: unknown): void {
    if (closing.signal.aborted) return
    failures += 1
    lastRequestMs = Number.POSITIVE_INFINITY
    const kind = error instanceof ModelError ? error.kind : 'internal'
    lastFailure = { at: new Date(nowMs()).toISOString(), kind }
    options.log.warn({ err: error, kind }, 'embedding failed')
  }

  async function embed(model: EmbeddingModel, texts: readonly string[], timeoutMs: number) {
    const startMs = performance.now()
    const timeout = AbortSignal.timeout(timeoutMs)
    const deadline = AbortSignal.any([closing.signal, timeout])
    const aborted = Promise.withResolvers<never>()
    const abort = () =>
      aborted.reject(timeout.aborted ? new ModelError('timeout', 'embedding timed out') : deadline.reason)
    deadline.addEventListener('abort', abort, { once: true })
    try {
      // Do not wait for a model that ignores the signal.
      const { vectors } = await Promise.race([model.embed(texts, deadline), aborted.promise])
      lastRequestMs = performance.now() - startMs
      return vectors
    } finally {
      deadline.removeEventListener('abort', abort)
    }
  }

  /** Embeds the next batch. Returns whether there was one. */
  async function embedNext(model: EmbeddingModel): Promise<boolean> {
    const name = nameOf(model)
    await caughtUp()
    const { texts, ...now } = await thread.ask('toEmbed', { model: name, limit: BATCH })
    coverage = now
    if (texts.length === 0) return false
    isEmbedding = true
    const made = await embed(
      model,
      texts.map(({ text }) => text),
      BATCH_TIMEOUT_MS,
    )
    // Catch up first, so that entries removed in the meantime get no vector.
    await caughtUp()
    const kept = texts.flatMap(({ seq }, index) => {
      const vector = made[index]
      return vector ? [{ seq, vector }] : []
    })
    coverage = await thread.ask('put', { model: name, vectors: kept })
    return true
  }

  /** A failure delays only the model that failed. */
  function isWaiting(model: EmbeddingModel | null): boolean {
    return model !== null && retryAtMs !== null && failedModel === nameOf(model)
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      wake = Promise.withResolvers<void>()
      const model = options.model()
      let waitMs = MAX_SLEEP_MS
      try {
        const untilRetryMs = isWaiting(model)
          ? leftOfWait(retryAtMs ?? 0, { nowMs: nowMs(), longestMs: MAX_RETRY_MS })
          : 0
        if (untilRetryMs > 0) waitMs = Math.min(waitMs, untilRetryMs)
        else if (model) {
          const isMore = await embedNext(model)
          retryAtMs = null
          failuresInARow = 0
          if (isMore) continue
        }
      } catch (error) {
        if (closing.signal.aborted) return
        failed(error)
        failuresInARow = isWaiting(model) ? failuresInARow + 1 : 1
        waitMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failuresInARow - 1))
        retryAtMs = nowMs() + waitMs
        failedModel = model && nameOf(model)
        waitMs = Math.min(waitMs, MAX_SLEEP_MS)
      } finally {
        isEmbedding = false
      }
      await sleep(waitMs)
    }
  }

  async function sleep(ms: number): Promise<void> {
    const timer = setTimeout(() => wake.resolve(), ms)
    timer.unref()
    await wake.promise
    clearTimeout(timer)
    if (closing.signal.aborted) return
    await gathered(gatherMs, closing.signal)
  }

  return {
    start() {
      unsubscribe = options.onHeadMoved(() => wake.resolve(), EMBEDDED)
      // Remove vectors left by a crash between erasure and `forget`, whatever their model.
      loop = caughtUp().then(vectors.prune).catch(failed).then(run)
    },
    async near(text) {
      const model = options.model()
      if (!model || text.trim() === '' || coverage.embedded === 0) return null
      try {
        const [vector] = await embed(model, [text.slice(0, MAX_CUE_CHARS).toWellFormed()], cueTimeoutMs)
        if (!vector) return null
        return await thread.ask('nearest', { model: nameOf(model), vector, limit: NEAREST })
      } catch (error) {
        failed(error)
        return null
      }
    },
    answersWithin: (ms) => lastRequestMs <= ms,
    state() {
      const model = options.model()
      const waits = isWaiting(model)
      return {
        model: model === null ? null : model.id.model,
        state: model === null ? 'off' : isEmbedding ? 'embedding' : waits ? 'waiting' : 'up_to_date',
        ...coverage,
        failures,
        lastFailure,
        retryAt: waits && retryAtMs !== null ? new Date(retryAtMs).toISOString() : null,
      }
    },
    async close() {
      closing.abort(new Error('the service is closing'))
      unsubscribe?.()
      wake.resolve()
      await Promise.all([loop, vectors.close()])
    },
  }
}

/** Resolves after `ms`, or at once when the signal aborts. */
async function gathered(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal, ref: false })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Vectors are comparable only within one provider and model. */
function nameOf({ id }: EmbeddingModel): string {
  return `${id.provider}/${id.model}`
}
