import * as z from 'zod'
import { kindOfOwner } from '../kinds.ts'
import type { ContextSize } from '../port.ts'
import type { OpenAiCore } from './core.ts'
import { contextOf, isNamed, LEAST_TOKENS } from './list-entry.ts'
import { requestEntries } from './models.ts'

/** How long a turn waits for what the server says. */
const ASK_MS = 2_000
/** The list changes only when the server restarts. */
const LISTED_MS = 60 * 60 * 1000
/** A local server may reload a model with another size. Ollama unloads it after five minutes. */
const LOADED_MS = 5 * 60 * 1000
const propsSchema = z.object({ default_generation_settings: z.object({ n_ctx: z.int().min(LEAST_TOKENS) }) })
const loadedSchema = z.object({
  models: z.array(
    z.object({ name: z.string(), context_length: z.int().min(LEAST_TOKENS).nullish().catch(null) }),
  ),
})

/** `otherwise` is assumed unless the server has ever reported more. */
type Reported = {
  readonly tokens: number | null
  readonly otherwise?: number | undefined
  readonly forMs: number
}

/**
 * The context sizes of the models of a server. There is no standard: vLLM and most hosts say it in their list of
 * models, LM Studio in one of its own, llama.cpp and Ollama by paths that no other server is asked for.
 */
export function createContextSizes(core: OpenAiCore) {
  const origin = core.baseUrl.replace(/\/v1$/, '')

  /** The answer to a GET; null if there is none in this form. */
  async function read<S extends z.ZodType>(path: string, schema: S, signal: AbortSignal) {
    const client = await core.load()
    const answer: unknown = await client.get(`${origin}${path}`, { signal }).catch(() => null)
    return schema.safeParse(answer).data ?? null
  }

  async function ask(model: string): Promise<Reported> {
    const signal = AbortSignal.timeout(ASK_MS)
    const entries = await requestEntries(core, signal).catch(() => [])
    const entry = entries.find(({ id }) => isNamed(id, model))
    const listed = entry ? contextOf(entry) : null
    if (listed !== null) return { tokens: listed, forMs: LISTED_MS }
    if (entry?.meta) {
      const props = await read('/props', propsSchema, signal)
      return { tokens: props?.default_generation_settings.n_ctx ?? null, forMs: LOADED_MS }
    }
    const { loadedPath, loadsTokens } = kindOfOwner(core.kind, entry?.owned_by ?? null)
    const running = loadedPath === undefined ? null : await read(loadedPath, loadedSchema, signal)
    const tokens = running?.models.find(({ name }) => isNamed(name, model))?.context_length ?? null
    // Models of Ollama's cloud, which are named so, have all their context.
    if (tokens !== null || running === null || /\bcloud$/.test(model)) return { tokens, forMs: LOADED_MS }
    return { tokens, otherwise: loadsTokens, forMs: 0 }
  }

  function create(model: string, set: number | undefined): ContextSize {
    if (set !== undefined || core.isOpenAi) return { tokens: set ?? null, learn: async () => undefined }
    let reported: number | null = null
    let untilMs = 0
    let asking: Promise<void> | null = null
    async function update(): Promise<void> {
      const { tokens, otherwise = null, forMs } = await ask(model)
      // A server that is busy says nothing, and has not changed.
      reported = tokens ?? reported ?? otherwise
      untilMs = core.timing.nowMs() + forMs
    }
    return {
      get tokens() {
        return reported
      },
      learn() {
        if (core.timing.nowMs() < untilMs) return Promise.resolve()
        asking ??= update().finally(() => {
          asking = null
        })
        return asking
      },
    }
  }

  const sizes = new Map<string, ContextSize>()
  /** The size of a model, as set or as the server says. */
  return (model: string, set?: number): ContextSize => {
    const size = sizes.get(model) ?? create(model, set)
    sizes.set(model, size)
    return size
  }
}
