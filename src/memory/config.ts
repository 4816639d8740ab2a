import * as z from 'zod'
import { parseJson } from '../lib/parse-json.ts'

const arbitratorSchema = z.strictObject({
  enabled: z.boolean(),
  /** A model name; null for the utility model. */
  model: z.string().min(1).max(200).nullable(),
  timeoutMs: z.int().min(50).max(10_000),
})

/** Memory settings: the document of `GET` and `PUT /memory-config`. */
export const memoryConfigSchema = z.strictObject({
  /** How long a turn waits for recall. Later results are staged for the next turn. */
  retrieveTimeoutMs: z.int().min(1).max(5000),
  /** How many earlier messages of the owner to add to the cue. */
  contextTurns: z.int().min(0).max(20),
  maxInjectedTokens: z.int().min(0).max(8000),
  /** Lines shown, memories and earlier messages alike. */
  maxInjectedMemories: z.int().min(0).max(100),
  /** Minimum relevance, 0..1, of what is shown. */
  relevanceThreshold: z.number().min(0).max(1),
  /** A late result is a duplicate if a new hit has at least this share of its words, 0..1. */
  duplicateThreshold: z.number().min(0).max(1),
  /** The age at which a single use leaves a strength of 0.5. */
  strengthHalfLifeDays: z.number().min(0.1).max(3650),
  arbitrator: arbitratorSchema,
})

export type MemoryConfig = z.output<typeof memoryConfigSchema>

/** Body of `PUT /memory-config`: any part of the document. The rest stays unchanged. */
export const memoryConfigChangeSchema = memoryConfigSchema
  .partial()
  .extend({ arbitrator: arbitratorSchema.partial().optional() })

export type MemoryConfigChange = z.output<typeof memoryConfigChangeSchema>

export const defaultMemoryConfig: MemoryConfig = {
  retrieveTimeoutMs: 60,
  contextTurns: 2,
  maxInjectedTokens: 250,
  maxInjectedMemories: 6,
  relevanceThreshold: 0.34,
  duplicateThreshold: 0.8,
  strengthHalfLifeDays: 30,
  arbitrator: { enabled: false, model: null, timeoutMs: 800 },
}

/**
 * Memory settings, kept by `load` and `save` as one JSON document (null if none was saved). Fields of a
 * stored document that are no longer valid fall back to their defaults.
 */
export function createMemoryConfig(options: {
  readonly load: () => string | null
  readonly save: (document: string) => void
}) {
  let config = restore(options.load())
  return {
    get: (): MemoryConfig => config,
    /** Merges a change and saves the whole document. Throws ZodError, changing nothing, if it is invalid. */
    put(change: unknown): MemoryConfig {
      const { arbitrator, ...rest } = memoryConfigChangeSchema.parse(change)
      const next = memoryConfigSchema.parse({
        ...config,
        ...rest,
        arbitrator: { ...config.arbitrator, ...arbitrator },
      })
      options.save(JSON.stringify(next))
      config = next
      return config
    },
  }
}

/** An unreadable document counts as empty: the defaults hold until the next save. */
const storedSchema = z.record(z.string(), z.unknown()).catch({})

function restore(document: string | null): MemoryConfig {
  const stored = storedSchema.parse(parseJson(document ?? '{}'))
  const valid = Object.entries(memoryConfigSchema.shape).flatMap(([name, schema]) => {
    const parsed = schema.safeParse(stored[name])
    return parsed.success ? [[name, parsed.data]] : []
  })
  return memoryConfigSchema.parse({ ...defaultMemoryConfig, ...Object.fromEntries(valid) })
}
