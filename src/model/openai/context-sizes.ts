import * as z from 'zod'
import type { ContextSize } from '../port.ts'
import type { OpenAiCore } from './core.ts'
import { contextOf, entriesSchema, isNamed, LEAST_TOKENS } from './list-entry.ts'

/** How long a turn waits for what the server says. */
const ASK_MS = 2_000
/** The list changes only when the server restarts. */
const LISTED_MS = 60 * 60 * 1000
/** A local server may reload a model with another size. Ollama unloads it after five minutes. */
const LOADED_MS = 5 * 60 * 1000
/** What Ollama loads a model with, unless it has much memory or is set otherwise. */
const OLLAMA_TOKENS = 4_096

const listSchema = z.object({ data: entriesSchema })
const propsSchema = z.object({ default_generation_settings: z.object({ n_ctx: z.int().min(LEAST_TOKENS) }) })
const loadedSchema = z.object({
  models: z.array(
    z.object({ name: z.string(), context_length: z.int().min(LEAST_TOKENS).nullish().catch(null) }),
  ),
})

/** `otherwise` is assumed unless the server has ever reported more. */
type Reported = { readonly tokens: number | null; readonly otherwise?: number; readonly forMs: number }

/**
 * The context sizes of the models of a server. There is no standard: vLLM and most hosts tell it in their list of
 * models, llama.cpp, Ollama and LM Studio by paths of their own, which no other server is asked for. Ollama cuts a
 * longer prompt without saying so.
 */
export function createContextSizes(
  core: Pick<OpenAiCore, 'baseUrl' | 'kind' | 'isOpenAi' | 'load' | 'timing'>,
) {
  const origin = core.baseUrl.replace(/\/v1$/, '')

  /** The answer to a GET; null if there is none in this form. */
  async function read<S extends z.ZodType>(url: string, schema: S, signal: AbortSignal) {
    const client = await core.load()
    const answer: unknown = await client.get(url, { signal }).catch(() => null)
    return schema.safeParse(answer).data ?? null
  }

  /** What a list of models says of one. */
  async function listed(url: string, model: string, signal: AbortSignal) {
    const { data = [] } = (await read(url, listSchema, signal)) ?? {}
    const entry = data.find(({ id }) => isNamed(id, model))
    const tokens = entry ? contextOf(entry) : null
    return { tokens, owner: entry?.owned_by, isLlama: Boolean(entry?.meta) }
  }

  /** What Ollama has loaded. Models of its cloud, which are named so, have all their context. */
  async function loaded(model: string, signal: AbortSignal): Promise<Reported> {
    const running = await read(`${origin}/api/ps`, loadedSchema, signal)
    const tokens = running?.models.find(({ name }) => isNamed(name, model))?.context_length ?? null
    if (tokens !== null || running === null || /\bcloud$/.test(model)) return { tokens, forMs: LOADED_MS }
    return { tokens, otherwise: OLLAMA_TOKENS, forMs: 0 }
  }

  async function ask(model: string): Promise<Reported> {
    const signal = AbortSignal.timeout(ASK_MS)
    const { tokens, owner, isLlama } = await listed('/models', model, signal)
    if (tokens !== null) return { tokens, forMs: LISTED_MS }
    if (core.kind === 'ollama' || owner === 'library') return loaded(model, signal)
    if (isLlama) {
      const props = await read(`${origin}/props`, propsSchema, signal)
      return { tokens: props?.default_generation_settings.n_ctx ?? null, forMs: LOADED_MS }
    }
    const isStudio = core.kind === 'lmstudio' || owner === 'organization_owner'
    const studio = isStudio ? await listed(`${origin}/api/v0/models`, model, signal) : null
    return { tokens: studio?.tokens ?? null, forMs: LOADED_MS }
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
