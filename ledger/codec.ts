import { hash as digest, randomBytes } from 'node:crypto'
import type * as z from 'zod'
import { InvalidEvent, LedgerDamaged } from './errors.ts'
import type { Actor, Channel, Envelope, LedgerEvent, NewEvent, UnknownEvent } from './event.ts'
import { catalogue, type EventType, isEventType } from './events/catalogue.ts'
import { upcast } from './upcast.ts'

/** An event exactly as stored. */
export type EventRow = {
  seq: number
  id: string
  key: string | null
  type: string
  version: number
  at: string
  conversationId: string | null
  spanId: string | null
  turnId: string | null
  causedBy: number | null
  /** JSON array of seqs. */
  derivedFrom: string | null
  channel: Channel | null
  actor: Actor
  /** JSON object. */
  facts: string
  /** JSON object; null if the type has no body, or the body is erased. */
  body: string | null
  salt: string | null
  bodyDigest: string | null
  hash: string
}

/** The columns needed to read an event. `bodyDigest` only tells whether there is or was a body. */
export type ReadRow = Omit<EventRow, 'salt'>

/** A validated event without its `seq` and `hash`. */
export type Draft = Omit<EventRow, 'seq' | 'hash'>

/** The columns that a hash covers, after `seq` and in this order. */
const HASHED = [
  'id',
  'key',
  'type',
  'version',
  'at',
  'conversationId',
  'spanId',
  'turnId',
  'causedBy',
  'derivedFrom',
  'channel',
  'actor',
  'facts',
  'bodyDigest',
] as const satisfies (keyof Draft)[]

export const COLUMNS = ['seq', ...HASHED, 'body', 'salt', 'hash'] as const satisfies (keyof EventRow)[]

/** The hash before the first event. */
export const GENESIS_HASH = '0'.repeat(64)

/** A salt for a body. It is erased with the body, so that a short text cannot be guessed from its digest. */
export function newSalt(): string {
  return randomBytes(16).toString('hex')
}

/** SHA-256 over salt and body, in hex. Reveals nothing once the salt is erased. */
export function bodyDigest(salt: string, body: string): string {
  return digest('sha256', `${salt}${body}`, 'hex')
}

/**
 * An event's hash: SHA-256 over the previous hash and a JSON array of the envelope, the stored facts and the
 * body's salted digest. The body itself is not included, so the chain survives an erasure.
 */
export function chainHash(previousHash: string, seq: number, row: Draft): string {
  return digest('sha256', previousHash + JSON.stringify([seq, ...HASHED.map((column) => row[column])]), 'hex')
}

export type DraftContext = {
  readonly newId: () => string
  readonly at: string
  readonly newSalt: () => string
}

/** Validates a new event against its schema and converts it for storage. Throws InvalidEvent. */
export function toDraft(event: NewEvent, context: DraftContext): Draft {
  const definition = catalogue[event.type]
  const facts = definition.facts.safeParse(event.facts)
  if (!facts.success) throw new InvalidEvent(`${event.type}: facts: ${facts.error.message}`)
  let body: string | null = null
  if (definition.body) {
    const parsed = definition.body.safeParse(event.body)
    if (!parsed.success) throw new InvalidEvent(`${event.type}: body: ${parsed.error.message}`)
    body = JSON.stringify(parsed.data)
  } else if (event.body !== undefined) {
    throw new InvalidEvent(`${event.type} must not have a body`)
  }
  const salt = body === null ? null : context.newSalt()
  return {
    id: context.newId(),
    // PostgreSQL stores neither NUL nor half a character.
    key: event.key?.toWellFormed().replaceAll('\0', '\uFFFD') ?? null,
    type: event.type,
    version: definition.version,
    at: context.at,
    conversationId: event.conversationId ?? null,
    spanId: event.spanId ?? null,
    turnId: event.turnId ?? null,
    causedBy: event.causedBy ?? null,
    derivedFrom: event.derivedFrom && event.derivedFrom.length > 0 ? JSON.stringify(event.derivedFrom) : null,
    channel: event.channel ?? null,
    actor: event.actor,
    facts: JSON.stringify(facts.data),
    body,
    salt,
    bodyDigest: body === null || salt === null ? null : bodyDigest(salt, body),
  }
}

/** Parses facts or a body, without the fields that a newer build may have added. Throws if they do not match. */
function readStored(schema: z.ZodObject, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed.data : schema.strip().parse(value)
}

/**
 * Parses a stored row with its schema and lifts it to the current version. Returns an unknown event for a
 * type or a version that this build does not know. Throws LedgerDamaged if the row does not match its schema.
 */
export function parseRow(row: ReadRow): LedgerEvent | UnknownEvent {
  const { type, version } = row
  if (!isKnown(type, version)) return unknownEventOf(row)
  const definition = catalogue[type]
  try {
    let facts: unknown = JSON.parse(row.facts)
    let body: unknown = row.body === null ? null : JSON.parse(row.body)
    if (version < definition.version) ({ facts, body } = upcast(type, version, { facts, body }))
    const parsedBody = body === null || !definition.body ? null : readStored(definition.body, body)
    // Type and parts belong together, but TypeScript cannot follow the catalogue lookup.
    return eventOf(row, type, readStored(definition.facts, facts), parsedBody) as LedgerEvent
  } catch (cause) {
    throw new LedgerDamaged(`event ${row.seq} (${type}) does not match its schema`, {
      cause,
      seq: row.seq,
    })
  }
}

function unknownEventOf(row: ReadRow): UnknownEvent {
  const { facts: _facts, body: _body, ...envelope } = eventOf(row, 'unknown', null, null)
  return { ...envelope, type: 'unknown', originalType: row.type }
}

/** The event of a row that `toDraft` has just validated; skips the schema. Use `parseRow` for stored rows. */
export function eventOfDraft(row: EventRow): LedgerEvent {
  const body: unknown = row.body === null ? null : JSON.parse(row.body)
  return eventOf(row, row.type, JSON.parse(row.facts), body) as LedgerEvent
}

/** One literal: spreading an envelope would take a third of the time to read a row. */
function eventOf(
  row: ReadRow,
  type: string,
  facts: unknown,
  body: unknown,
): Envelope & { erased: boolean; type: string; facts: unknown; body: unknown } {
  return {
    seq: row.seq,
    id: row.id,
    key: row.key,
    type,
    version: row.version,
    at: row.at,
    conversationId: row.conversationId,
    spanId: row.spanId,
    turnId: row.turnId,
    causedBy: row.causedBy,
    derivedFrom: parseSeqs(row),
    channel: row.channel,
    actor: row.actor,
    hash: row.hash,
    erased: row.bodyDigest !== null && row.body === null,
    facts,
    body,
  }
}

/** Whether this build can read this version of the type. */
export function isKnown(type: string, version: number): type is EventType {
  return isEventType(type) && version <= catalogue[type].version
}

const NO_SEQS: readonly number[] = []

function parseSeqs(row: ReadRow): readonly number[] {
  if (row.derivedFrom === null) return NO_SEQS
  const seqs = parseJson(row.derivedFrom)
  if (Array.isArray(seqs) && seqs.every((seq) => Number.isSafeInteger(seq))) return seqs
  throw new LedgerDamaged(`event ${row.seq}: derivedFrom is not a list of seqs`, { seq: row.seq })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
