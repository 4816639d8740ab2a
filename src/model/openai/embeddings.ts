import * as z from 'zod'
import { CapabilityMissing, type EmbeddingModel, ModelError, type ModelId, type Usage } from '../port.ts'
import { estimateTokens } from '../tokens.ts'
import { saysMissing } from './capabilities.ts'
import { type OpenAiCore, requestOnce, scopeOf } from './core.ts'

/** The service allows 2,048 inputs and 300,000 tokens a request. */
const BATCH_TEXTS = 256
/** The models take 8,192 tokens per text, and a token is at least one byte. */
const MAX_TEXT_BYTES = 8192

const embeddingsSchema = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
})

/** Embeds texts in order. A text over the limit is cut; an empty one becomes a space. */
export function createEmbeddingModel(core: OpenAiCore, model: string): EmbeddingModel {
  const id: ModelId = { provider: core.provider, model }

  async function embedBatch(texts: readonly string[], signal: AbortSignal) {
    const client = await core.load()
    const raw = await client.embeddings
      // The SDK defaults to base64, which some servers lack.
      .create({ model, input: [...texts], encoding_format: 'float' }, { signal })
      .catch((error: unknown) => {
        if (!saysMissing(error)) throw error
        core.capabilities.markLacking(scopeOf(core, id), 'embeddings')
        throw new CapabilityMissing(
          'embeddings',
          `The model service at ${core.where} does not support embeddings.`,
        )
      })
    const { data, usage } = embeddingsSchema.parse(raw)
    const vectors = data
      .toSorted((a, b) => a.index - b.index)
      .map(({ embedding }) => Float32Array.from(embedding))
    const dimensions = vectors[0]?.length
    const isComplete =
      vectors.length === texts.length && data.every(({ embedding }) => embedding.length === dimensions)
    if (!isComplete)
      throw new ModelError(
        'malformed',
        `The model service at ${core.where} returned the wrong number or size of vectors.`,
      )
    return {
      vectors,
      inputTokens: usage?.prompt_tokens ?? texts.reduce((sum, text) => sum + estimateTokens(text), 0),
    }
  }

  return {
    id,
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      let inputTokens = 0
      for (let start = 0; start < texts.length; start += BATCH_TEXTS) {
        const batch = texts.slice(start, start + BATCH_TEXTS).map(toInput)
        const done = await requestOnce(core, signal, (attemptSignal) => embedBatch(batch, attemptSignal))
        vectors.push(...done.vectors)
        inputTokens += done.inputTokens
      }
      const usage: Usage = { inputTokens, outputTokens: 0, cachedTokens: 0 }
      return { vectors, usage }
    },
  }
}

function toInput(text: string): string {
  if (text === '') return ' '
  if (text.length * 3 <= MAX_TEXT_BYTES) return text
  // `encodeInto` never splits a character.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_TEXT_BYTES))
  return text.slice(0, read)
}
