import type { Http } from './http.ts'
import {
  arrayField,
  asObject,
  booleanField,
  isObject,
  type JsonObject,
  numberField,
  optionalString,
  stringField,
  UnexpectedAnswer,
} from './json.ts'
import type { TimelineEvent } from './timeline.ts'

const embeddingStates = ['off', 'up_to_date', 'embedding', 'waiting'] as const
export type EmbeddingState = (typeof embeddingStates)[number]

export type MemoryInsights = {
  readonly store: {
    readonly total: number
    readonly contested: number
    readonly superseded: number
    readonly retired: number
    readonly forgotten: number
    /** Most frequent first. */
    readonly kinds: readonly { readonly kind: string; readonly count: number }[]
  }
  /** Outcomes of candidates since the service started. */
  readonly deduplication: {
    readonly since: string
    readonly candidates: number
    readonly inserted: number
    readonly reinforced: number
    readonly merged: number
    readonly discarded: number
    readonly suppressed: number
  }
  readonly extraction: {
    readonly method: string
    readonly running: boolean
    readonly unread: number
    readonly lastFailure: {
      readonly at: string
      readonly kind: string
      readonly final: boolean
      readonly retryAt: string | null
    } | null
  }
  readonly recall: {
    readonly queries: number
    readonly inTime: number
    readonly late: number
    readonly failed: number
    readonly lastDurationMs: number | null
  }
  /** Recall by meaning. `off` if no embedding model is set, `waiting` after a failure. */
  readonly embedding: {
    readonly state: EmbeddingState
    readonly model: string | null
    /** Turns and memories that have a vector, out of `total`. */
    readonly embedded: number
    readonly total: number
    readonly lastFailure: { readonly at: string; readonly kind: string } | null
    readonly retryAt: string | null
  }
  /** Newest first. */
  readonly recentEvents: readonly TimelineEvent[]
}

export async function fetchMemoryInsights(http: Http, signal?: AbortSignal): Promise<MemoryInsights> {
  const answer = await http('GET', '/api/memories/insights', signal ? { signal } : {})
  const insights = asObject(answer, 'insights')
  const store = asObject(insights.store, 'store')
  const counts = asObject(insights.deduplication, 'deduplication')
  const runtime = asObject(insights.runtime, 'runtime')
  const extraction = asObject(runtime.extraction, 'extraction')
  const recall = asObject(runtime.recall, 'recall')
  return {
    store: {
      total: numberField(store, 'total'),
      contested: numberField(store, 'contested'),
      superseded: numberField(store, 'superseded'),
      retired: numberField(store, 'retired'),
      forgotten: numberField(store, 'forgotten'),
      kinds: kindsOf(asObject(store.byKind, 'byKind')),
    },
    deduplication: {
      since: stringField(counts, 'since'),
      candidates: numberField(counts, 'candidates'),
      inserted: numberField(counts, 'inserted'),
      reinforced: numberField(counts, 'reinforced'),
      merged: numberField(counts, 'merged'),
      discarded: numberField(counts, 'discarded'),
      suppressed: numberField(counts, 'suppressed'),
    },
    extraction: {
      method: stringField(extraction, 'method'),
      running: booleanField(extraction, 'running'),
      unread: numberField(extraction, 'unread'),
      lastFailure: isObject(extraction.lastFailure) ? failureOf(extraction.lastFailure) : null,
    },
    recall: {
      queries: numberField(recall, 'queries'),
      inTime: numberField(recall, 'inTime'),
      late: numberField(recall, 'late'),
      failed: numberField(recall, 'failed'),
      lastDurationMs: typeof recall.lastDurationMs === 'number' ? recall.lastDurationMs : null,
    },
    embedding: embeddingOf(asObject(runtime.embedding, 'embedding')),
    recentEvents: arrayField(insights, 'recentEvents', eventOf),
  }
}

function embeddingOf(embedding: JsonObject): MemoryInsights['embedding'] {
  const { lastFailure } = embedding
  const state = embeddingStates.find((known) => known === embedding.state)
  if (!state) throw new UnexpectedAnswer('state')
  return {
    state,
    model: optionalString(embedding, 'model'),
    embedded: numberField(embedding, 'embedded'),
    total: numberField(embedding, 'total'),
    lastFailure: isObject(lastFailure)
      ? { at: stringField(lastFailure, 'at'), kind: stringField(lastFailure, 'kind') }
      : null,
    retryAt: optionalString(embedding, 'retryAt'),
  }
}

function kindsOf(byKind: JsonObject): { kind: string; count: number }[] {
  return Object.keys(byKind)
    .map((kind) => ({ kind, count: numberField(byKind, kind) }))
    .sort((a, b) => b.count - a.count || a.kind.localeCompare(b.kind))
}

function failureOf(failure: JsonObject) {
  return {
    at: stringField(failure, 'at'),
    kind: stringField(failure, 'kind'),
    final: booleanField(failure, 'final'),
    retryAt: optionalString(failure, 'retryAt'),
  }
}

function eventOf(value: unknown): TimelineEvent {
  const event = asObject(value, 'event')
  return {
    seq: numberField(event, 'seq'),
    id: '',
    type: stringField(event, 'type'),
    at: stringField(event, 'at'),
    channel: null,
    conversationId: optionalString(event, 'conversationId'),
    spanId: null,
    turnId: null,
    internal: true,
    payload: asObject(event.payload, 'payload'),
  }
}
