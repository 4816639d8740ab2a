import * as z from 'zod'
import { english } from '../../language/message.ts'
import { type EmbeddingModel, ModelError, type ModelId } from '../port.ts'
import { estimateTokens } from '../tokens.ts'
import { type OpenAiCore, orMissing, requestOnce } from './core.ts'

/** The models take 8,192 tokens per text, and a token is at least one byte. */
const MAX_TEXT_BYTES = 8192

const embeddingsSchema = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })),
  usage: z
    .object({ prompt_tokens: z.int().min(0) })
    .nullish()
    .catch(null),
})

/** Embeds texts in one request, which may have 2,048. A text over the limit is cut; an empty one becomes a space. */
export function createEmbeddingModel(core: OpenAiCore, model: string): EmbeddingModel {
  const id: ModelId = { provider: core.provider, model }

  async function ask(texts: readonly string[], signal: AbortSignal) {
    const client = await core.load()
    const raw = await client.embeddings
      // The SDK defaults to base64, which some servers lack.
      .create({ model, input: [...texts], encoding_format: 'float' }, { signal })
      .catch(orMissing(core, 'embeddings', id))
    const { data, usage } = embeddingsSchema.parse(raw)
    const vectors = data
      .toSorted((a, b) => a.index - b.index)
      .map(({ embedding }) => Float32Array.from(embedding))
    const dimensions = vectors[0]?.length
    if (vectors.length !== texts.length || vectors.some(({ length }) => length !== dimensions))
      throw new ModelError(
        'malformed',
        english`The model service at ${core.where} returned the wrong number or size of vectors.`,
      )
    const inputTokens = usage?.prompt_tokens ?? texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    return { vectors, usage: { inputTokens, outputTokens: 0, cachedTokens: 0 } }
  }

  return {
    id,
    embed: (texts, signal) =>
      requestOnce(core, signal, (attemptSignal) => ask(texts.map(toInput), attemptSignal)),
  }
}

function toInput(text: string): string {
  if (text === '') return ' '
  if (text.length * 3 <= MAX_TEXT_BYTES) return text
  // `encodeInto` never splits a character.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_TEXT_BYTES))
  return text.slice(0, read)
}
