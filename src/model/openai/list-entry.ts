import * as z from 'zod'

/** Less is no context but a mistake. */
export const LEAST_TOKENS = 1_000
const size = z.int().min(LEAST_TOKENS).nullish().catch(null)

/** The entries in a list of models. A fresh Ollama has null for none. */
export const entriesSchema = z
  .array(
    z.object({
      id: z.string(),
      owned_by: z.string().nullish().catch(null),
      /** LM Studio, whose `max_context_length` is what it could load, and may be far more. */
      loaded_context_length: size,
      state: z.string().nullish().catch(null),
      /** vLLM, SGLang. */
      max_model_len: size,
      /** OpenRouter, Together. */
      context_length: size,
      /** Groq. */
      context_window: size,
      /** Anthropic. */
      max_input_tokens: size,
      /** Mistral. */
      max_context_length: size,
      /** Only llama.cpp has it. Older ones report only what the model was trained with. */
      meta: z.object({ n_ctx: size }).nullish().catch(null),
    }),
  )
  .nullable()
  .transform((entries) => entries ?? [])

export type ListEntry = z.output<typeof entriesSchema>[number]

/** How many tokens fit into a request of a listed model; null where the list does not say. */
export function contextOf(entry: ListEntry): number | null {
  const { meta, state, loaded_context_length, max_context_length, ...sizes } = entry
  const { max_model_len, context_length, context_window, max_input_tokens } = sizes
  const most = state == null ? max_context_length : null
  const all = [loaded_context_length, max_model_len, meta?.n_ctx, context_length, context_window]
  return [...all, max_input_tokens, most].find((each) => typeof each === 'number') ?? null
}

/** Whether an entry is a model. Gemini lists a path, and Ollama the tag that may be left out. */
export function isNamed(id: string, model: string): boolean {
  return [model, `models/${model}`, `${model}:latest`].includes(id)
}
