import * as z from 'zod'
import type { BodyOf, EventType, FactsOf } from './events/catalogue.ts'

export const channelSchema = z.enum(['chat', 'voice', 'sms', 'inner', 'system'])
export const actorSchema = z.enum(['owner', 'guest', 'delegate', 'service'])
export type Channel = z.output<typeof channelSchema>
export type Actor = z.output<typeof actorSchema>

/** The fields common to all events. They are permanent, so nothing personal belongs here. */
export type Envelope = {
  /** Place in the global order: gapless, from 1. */
  readonly seq: number
  readonly id: string
  /** Idempotency key: a second append with the same key changes nothing. */
  readonly key: string | null
  readonly version: number
  /** Time of the append, ISO 8601 UTC. Order by `seq` instead, since clocks jump. */
  readonly at: string
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly turnId: string | null
  /** The fact that led to this one. */
  readonly causedBy: number | null
  /** The facts that this one copies text from or was learned from. Erasing one of them erases this. */
  readonly derivedFrom: readonly number[]
  readonly channel: Channel | null
  readonly actor: Actor
  readonly hash: string
}

/** A stored fact, parsed and lifted to the current version. */
export type EventOf<T extends EventType> = Envelope & {
  readonly type: T
  readonly facts: FactsOf<T>
  /** Null if the type has no body, or the body is erased. */
  readonly body: BodyOf<T> | null
  readonly erased: boolean
}

export type LedgerEvent = { [T in EventType]: EventOf<T> }[EventType]

/** A fact that a newer build wrote: kept, skipped with a warning, and folded once a build knows it. */
export type UnknownEvent = Envelope & {
  readonly type: 'unknown'
  readonly originalType: string
  readonly erased: boolean
}

/** A type without a body has an index signature as its `BodyOf`. */
type BodyPart<T extends EventType> = string extends keyof BodyOf<T>
  ? { body?: undefined }
  : { body: BodyOf<T> }

/** A fact to append. The ledger assigns `seq`, `id`, `at`, `version` and `hash`. */
export type NewEventOf<T extends EventType> = {
  readonly type: T
  readonly facts: FactsOf<T>
  readonly actor: Actor
  readonly channel?: Channel | undefined
  readonly key?: string | undefined
  readonly conversationId?: string | null | undefined
  readonly spanId?: string | null | undefined
  readonly turnId?: string | null | undefined
  readonly causedBy?: number | undefined
  readonly derivedFrom?: readonly number[] | undefined
} & BodyPart<T>

export type NewEvent = { [T in EventType]: NewEventOf<T> }[EventType]

/** The batch was appended, or a key in it is taken by `existing`. */
export type Appended =
  | { readonly status: 'appended'; readonly events: readonly LedgerEvent[] }
  | { readonly status: 'duplicate'; readonly existing: LedgerEvent | UnknownEvent }

/**
 * Appends a batch in one transaction. Resolves once it is on disk and folded into the views. If any key in
 * the batch is taken, nothing is appended. Rejects with LedgerUnavailable if the disk refuses; then nothing
 * was appended.
 */
export type Append = (events: readonly NewEvent[]) => Promise<Appended>
