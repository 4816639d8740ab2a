import * as z from 'zod'
import type { BodyOf, EventType, FactsOf } from './events/catalogue.ts'

export const channelSchema = z.enum(['chat', 'voice', 'sms', 'inner', 'system'])
export const actorSchema = z.enum(['owner', 'guest', 'delegate', 'service'])
export type Channel = z.output<typeof channelSchema>
export type Actor = z.output<typeof actorSchema>

/** What surrounds every fact. All of it is permanent: nothing personal belongs here. */
export type Envelope = {
  /** Place in the global order: gapless, from 1. */
  readonly seq: number
  readonly id: string
  /** Idempotency: a second append with the same key changes nothing. */
  readonly key: string | null
  readonly version: number
  /** When it was appended, ISO 8601 UTC. Clocks jump: order by `seq`, never by this. */
  readonly at: string
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly turnId: string | null
  /** The fact that led to this one. */
  readonly causedBy: number | null
  /** The facts whose text this one copies, or that it was learned from. Erasing those erases this. */
  readonly derivedFrom: readonly number[]
  readonly channel: Channel | null
  readonly actor: Actor
  readonly hash: string
}

/** Where a fact stands among others, without its content; of one that a newer build wrote, as of `Unknown`. */
export type EventHeader = Pick<
  Envelope,
  'seq' | 'version' | 'at' | 'conversationId' | 'spanId' | 'turnId' | 'derivedFrom' | 'channel'
> & { readonly type: string }

/** A fact as read back: parsed, and lifted to the current version. */
export type EventOf<T extends EventType> = Envelope & {
  readonly type: T
  readonly facts: FactsOf<T>
  /** Null when the type has no body, and once it was erased. */
  readonly body: BodyOf<T> | null
  readonly erased: boolean
}

export type LedgerEvent = { [T in EventType]: EventOf<T> }[EventType]

/** A fact that a newer build wrote: kept, passed over with a warning, folded once known. */
export type UnknownEvent = Envelope & Unknown & { readonly erased: boolean }
export type Unknown = { readonly type: 'unknown'; readonly originalType: string }

/** A type without a body has the open record of an empty shape. */
type BodyPart<T extends EventType> = string extends keyof BodyOf<T>
  ? { body?: undefined }
  : { body: BodyOf<T> }

/** A fact to be appended. `seq`, `id`, `at`, `version` and `hash` are given by the ledger. */
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

/** The whole batch is in the ledger now, or it had been before (`existing` is the event that holds the key). */
export type Appended =
  | { readonly status: 'appended'; readonly events: readonly LedgerEvent[] }
  | { readonly status: 'duplicate'; readonly existing: LedgerEvent | UnknownEvent }

/**
 * Appends a batch as one transaction: all of it or nothing. Resolves when it is on disk and the projections
 * have it. A batch of which any key is taken is not appended. Rejects with LedgerUnavailable when the disk
 * refuses; then nothing of it was kept.
 */
export type Append = (events: readonly NewEvent[]) => Promise<Appended>
