import { existsSync } from 'node:fs'
import type { SubscribeHead } from '../../../ledger/follow.ts'
import { english } from '../../language/message.ts'
import { createReactor } from '../../lib/reactor.ts'
import { unlessAborted } from '../../lib/waits.ts'
import { type EmbeddingModel, ModelError, type Use } from '../../model/port.ts'
import { type FunctionThreadOptions, openFunctionThread } from '../../storage/function-thread.ts'
import { type Coverage, type vectorFunctions, vectorsFile } from './vector-functions.ts'
import type { Near } from './vectors.ts'

export type Embedding = ReturnType<typeof createEmbedding>

/** The vector file and its thread. */
export type Vectors = ReturnType<typeof openVectors>

/** Events that add or remove recall entries. */
const EMBEDDED = ['chat', 'call', 'sms', 'memory', 'erased'] as const
const BATCH = 64
const NEAREST = 50
const CUE_TIMEOUT_MS = 5000
const BATCH_TIMEOUT_MS = 60_000
const RETRY_MS = { first: 5_000, longest: 60 * 60_000 }
/** The start of a long cue is enough to show its topic. */
const MAX_CUE_CHARS = 4000

/** Opens the vectors of a data directory. The thread starts on first use. */
export function openVectors(directory: string, options: FunctionThreadOptions = {}) {
  const url = new URL('./vector-thread.ts', import.meta.url)
  const thread = openFunctionThread<typeof vectorFunctions>(url, directory, options)
  return {
    thread,
    // Vectors of a previous model may exist even if no model is configured.
    /** Resolves when the vectors of these events are overwritten on disk. */
    async forget(seqs: readonly number[]): Promise<void> {
      if (existsSync(vectorsFile(directory))) await thread.ask('forget', seqs)
    },
    /** Does the same for entries that left the index. Call it once the index is caught up. */
    async prune(): Promise<void> {
      if (existsSync(vectorsFile(directory))) await thread.ask('prune', null)
    },
    close: thread.close,
  }
}

/** Keeps vectors for all recall entries, in the background. */
export function createEmbedding(options: {
  readonly vectors: Vectors
  readonly model: () => EmbeddingModel | null
  /** How long `near` waits for the model. */
  readonly cueTimeoutMs?: number | undefined
  /** While halted, only the cues of chat turns are embedded. */
  readonly isHalted: () => boolean
  /** Resolves when the indexes have every event that is durable now. */
  readonly caughtUp: () => Promise<void>
  readonly onHeadMoved: SubscribeHead
  readonly nowMs: () => number
  readonly log: { warn(fields: object, message: string): void }
}) {
  const { vectors, caughtUp, nowMs, cueTimeoutMs = CUE_TIMEOUT_MS } = options
  const { thread } = vectors
  const closing = new AbortController()
  let coverage: Coverage = { embedded: 0, total: 0 }
  let isPruned = false
  let batches = 0
  let isEmbedding = false
  /** Counts additions to the entries. */
  let additions = 0
  /** The model and the number of additions at which everything had a vector. */
  let complete = ''
  let unsubscribe: () => void = () => undefined
  let failures = 0
  let lastFailure: { readonly at: string; readonly kind: string } | null = null
  /** Infinite after a failure. */
  let lastRequestMs = Number.POSITIVE_INFINITY
  // Each model has a lane, so that a failure delays only the model that failed.
  const reactor = createReactor<EmbeddingModel | 'prune'>({
    onHeadMoved: options.onHeadMoved,
    // A release lets go on what a halt has stopped.
    areas: [...EMBEDDED, 'delegation'],
    next() {
      if (!isPruned) return 'prune'
      const model = options.isHalted() ? null : options.model()
      return model && stateFor(model) !== complete ? model : undefined
    },
    laneOf: (work) => (work === 'prune' ? work : nameOf(work)),
    stepOf: (work) => (work === 'prune' ? work : batches),
    run: (work) => (work === 'prune' ? prune() : embedNext(work)),
    retryMs: RETRY_MS,
    onFault: failed,
  })

  function failed(error: unknown): void {
    if (closing.signal.aborted) return
    failures += 1
    lastRequestMs = Number.POSITIVE_INFINITY
    const kind = error instanceof ModelError ? error.kind : 'internal'
    lastFailure = { at: new Date(nowMs()).toISOString(), kind }
    options.log.warn({ err: error, kind }, 'embedding failed')
  }

  async function embed(model: EmbeddingModel, texts: readonly string[], timeoutMs: number, use?: Use) {
    const startMs = performance.now()
    const timeout = AbortSignal.timeout(timeoutMs)
    const deadline = AbortSignal.any([closing.signal, timeout])
    try {
      const { vectors } = await unlessAborted(deadline, model.embed(texts, deadline, use))
      lastRequestMs = performance.now() - startMs
      return vectors
    } catch (error) {
      throw timeout.aborted
        ? new ModelError('timeout', english`The model did not make an embedding in time.`, { cause: error })
        : error
    }
  }

  /** Removes vectors left by a crash between an erasure and `forget`, whatever their model. */
  async function prune(): Promise<void> {
    isPruned = true
    await caughtUp()
    await vectors.prune()
  }

  async function embedNext(model: EmbeddingModel): Promise<void> {
    const name = nameOf(model)
    const state = stateFor(model)
    await caughtUp()
    const { texts, ...now } = await thread.ask('toEmbed', { model: name, limit: BATCH })
    batches += 1
    coverage = now
    if (texts.length === 0) complete = state
    if (texts.length === 0 || !isChosen(model)) return
    isEmbedding = true
    try {
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
    } finally {
      isEmbedding = false
    }
  }

  /** Words that were said since another model was chosen are not for the former one. */
  function isChosen(model: EmbeddingModel): boolean {
    const chosen = options.isHalted() ? null : options.model()
    return chosen !== null && nameOf(chosen) === nameOf(model)
  }

  type Activity = 'off' | 'embedding' | 'waiting' | 'up_to_date'
  function activityOf(model: EmbeddingModel | null, pauseMs: number): Activity {
    if (model === null) return 'off'
    if (isEmbedding) return 'embedding'
    return pauseMs > 0 ? 'waiting' : 'up_to_date'
  }

  const stateFor = (model: EmbeddingModel) => `${nameOf(model)} ${additions}`

  function noteNew(): void {
    additions += 1
  }

  return {
    start(): void {
      // Before the reactor, so that it sees new entries.
      unsubscribe = options.onHeadMoved(noteNew, EMBEDDED)
      reactor.start()
    },
    /** Looks for work, after another model was chosen. */
    wake: reactor.wake,
    /** Entries similar in meaning to a text, or null if unavailable. Counts failures; never rejects. */
    async near(
      text: string,
      use: Use = { purpose: 'recall', channel: 'inner' },
    ): Promise<readonly Near[] | null> {
      const model = options.model()
      if (!model || text.trim() === '' || coverage.embedded === 0) return null
      try {
        const [vector] = await embed(model, [text.slice(0, MAX_CUE_CHARS).toWellFormed()], cueTimeoutMs, use)
        if (!vector) return null
        return await thread.ask('nearest', { model: nameOf(model), vector, limit: NEAREST })
      } catch (error) {
        failed(error)
        return null
      }
    },
    /** Whether the last request took at most `ms`. */
    answersWithin: (ms: number) => lastRequestMs <= ms,
    /** Without a model, nothing is sent anywhere. */
    state() {
      const model = options.model()
      const pauseMs = model === null ? 0 : reactor.pauseMs(nameOf(model))
      return {
        model: model === null ? null : model.id.model,
        state: activityOf(model, pauseMs),
        ...coverage,
        failures,
        lastFailure,
        retryAt: pauseMs > 0 ? new Date(nowMs() + pauseMs).toISOString() : null,
      }
    },
    async close(): Promise<void> {
      closing.abort(new Error('the service is closing'))
      unsubscribe()
      await Promise.all([reactor.close(0), vectors.close()])
    },
  }
}

/** Vectors are comparable only within one provider and model. */
function nameOf({ id }: EmbeddingModel): string {
  return `${id.provider}/${id.model}`
}
