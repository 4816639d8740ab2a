import * as z from 'zod'

/** One event type of the catalogue: schemas of its permanent `facts` and its personal, erasable `body`. */
export type EventDefinition<Facts extends z.ZodType = z.ZodType, Body extends z.ZodType = z.ZodType> = {
  /** Incremented if facts of the old shape no longer parse; `upcast.ts` lifts them. */
  readonly version: number
  /** Shown folded on the timeline, never as something that was said. */
  readonly internal: boolean
  readonly facts: Facts
  /** Null for a type without personal data. */
  readonly body: Body | null
  /** Body fields that hold a provider's opaque blobs; the API never returns them. */
  readonly opaque: readonly string[]
}

type Shape = z.core.$ZodLooseShape

/** Declares an event type. What is written is strict, so personal data cannot slip into the permanent part. */
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

/** An opaque identifier, made by a client, a provider or this service. */
export const idSchema = z.string().min(1).max(200)
/**
 * Whether it may contain words of others. False only if all model input came from the owner in the browser;
 * absent means unknown and counts as true.
 */
export const foreignSchema = z.boolean().optional()
/** A count of things, bytes or tokens. */
export const countSchema = z.int().min(0)
/** An event's place in the global order, from 1. */
export const seqSchema = z.int().min(1)
/** ISO 8601 in UTC. */
export const timeSchema = z.iso.datetime()
/** A stable snake_case word for a class of failure, an outcome or a reason. */
export const wordSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/)
  .max(64)
