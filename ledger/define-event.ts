import * as z from 'zod'

/**
 * One event type of the catalogue: what its permanent part (`facts`) and its erasable, personal part
 * (`body`) look like, in the current version.
 */
export type EventDefinition<Facts extends z.ZodType = z.ZodType, Body extends z.ZodType = z.ZodType> = {
  /** Raised by one whenever the shape changes; `upcast.ts` then lifts the older one. */
  readonly version: number
  /** Part of the delegate's inner life: shown folded, never as somebody's words. */
  readonly internal: boolean
  readonly facts: Facts
  /** Null for a type that carries nothing personal. */
  readonly body: Body | null
  /** Body fields that hold a provider's opaque blobs; they never leave by the API. */
  readonly opaque: readonly string[]
}

type Shape = z.core.$ZodLooseShape

/**
 * Declares an event type. Unknown fields are refused on append, so a fact cannot smuggle personal data into
 * its permanent part.
 */
export function defineEvent<const F extends Shape, const B extends Shape = Record<never, never>>(options: {
  version?: number
  internal?: boolean
  facts: F
  body?: B
  opaque?: readonly (keyof B & string)[]
}): EventDefinition<z.ZodObject<F, z.core.$strict>, z.ZodObject<B, z.core.$strict>> {
  return {
    version: options.version ?? 1,
    internal: options.internal ?? false,
    facts: z.strictObject(options.facts),
    body: options.body ? z.strictObject(options.body) : null,
    opaque: options.opaque ?? [],
  }
}

/** An opaque identifier: a client, a provider or this service made it. */
export const idSchema = z.string().min(1).max(200)
/**
 * Whether words of others may be in it: false only where everything that the model was given came from the owner in
 * the browser. Absent where nobody looked; then they may be.
 */
export const foreignSchema = z.boolean().optional()
/** A count of things, bytes or tokens. */
export const countSchema = z.int().min(0)
/** The place of an event in the ledger's global order, from 1. */
export const seqSchema = z.int().min(1)
/** A moment, ISO 8601 in UTC. */
export const timeSchema = z.iso.datetime()
/** A stable snake_case word that names a class of failure, an outcome or a reason. */
export const wordSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/)
  .max(64)
