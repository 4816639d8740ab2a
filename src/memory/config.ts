import * as z from 'zod'

const arbitratorSchema = z.strictObject({
  enabled: z.boolean(),
  /** The model's name; null for the utility model. */
  model: z.string().min(1).max(200).nullable(),
  timeoutMs: z.int().min(50).max(10_000),
})

/** What the owner may tune of memory: the document of `GET` and `PUT /memory-config`. */
export const memoryConfigSchema = z.strictObject({
  /** How long a turn waits for recall; what comes later is staged for the next. */
  retrieveTimeoutMs: z.int().min(1).max(5000),
  /** How many of the owner's earlier messages go into the cue. */
  contextTurns: z.int().min(0).max(20),
  maxInjectedTokens: z.int().min(0).max(8000),
  maxInjectedMemories: z.int().min(0).max(100),
  /** What fits the cue less than this, 0..1, is not shown. */
  relevanceThreshold: z.number().min(0).max(1),
  /** A late result that shares this part of its words, 0..1, with what is shown already is a duplicate. */
  duplicateThreshold: z.number().min(0).max(1),
  /** The age at which one use alone leaves a strength of one half. */
  strengthHalfLifeDays: z.number().min(0.1).max(3650),
  arbitrator: arbitratorSchema,
})

export type MemoryConfig = z.output<typeof memoryConfigSchema>

/** What `PUT /memory-config` takes: any part of the document; the rest stays. */
export const memoryConfigChangeSchema = memoryConfigSchema
  .partial()
  .extend({ arbitrator: arbitratorSchema.partial().optional() })

export type MemoryConfigChange = z.output<typeof memoryConfigChangeSchema>

export const defaultMemoryConfig: MemoryConfig = {
  retrieveTimeoutMs: 60,
  contextTurns: 2,
  maxInjectedTokens: 500,
  maxInjectedMemories: 12,
  relevanceThreshold: 0.15,
  duplicateThreshold: 0.8,
  strengthHalfLifeDays: 30,
  arbitrator: { enabled: false, model: null, timeoutMs: 800 },
}

export type MemoryConfigStore = {
  get(): MemoryConfig
  /** Changes what is given and saves the whole. Throws ZodError for what does not fit; then nothing has changed. */
  put(change: unknown): MemoryConfig
}

/**
 * The memory's settings, kept by `load` and `save` as one JSON document; null while nothing was saved. A stored
 * document that no longer fits, as an older build wrote it, keeps what still does.
 */
export function createMemoryConfig(options: {
  readonly load: () => string | null
  readonly save: (document: string) => void
}): MemoryConfigStore {
  let config = restore(options.load())
  return {
    get: () => config,
    put(change) {
      const { arbitrator, ...rest } = memoryConfigChangeSchema.parse(change)
      const next = memoryConfigSchema.parse({
        ...config,
        ...withoutUndefined(rest),
        arbitrator: { ...config.arbitrator, ...withoutUndefined(arbitrator ?? {}) },
      })
      options.save(JSON.stringify(next))
      config = next
      return config
    },
  }
}

function withoutUndefined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

const storedSchema = z.record(z.string(), z.unknown())

function restore(document: string | null): MemoryConfig {
  if (document === null) return defaultMemoryConfig
  const stored = parse(document)
  const fields = Object.entries(memoryConfigSchema.shape).map(([name, schema]) => {
    const parsed = schema.safeParse(stored[name])
    return [name, parsed.success ? parsed.data : defaultMemoryConfig[name as keyof MemoryConfig]]
  })
  return memoryConfigSchema.parse(Object.fromEntries(fields))
}

function parse(document: string): Record<string, unknown> {
  try {
    return storedSchema.parse(JSON.parse(document))
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error
    // Whatever it is, it is no document of ours: the defaults apply until something is saved.
    return {}
  }
}
