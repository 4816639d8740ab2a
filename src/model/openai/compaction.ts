import type { ResponseCompactParams } from 'openai/resources/responses/responses'
import * as z from 'zod'
import type { CompactionModel, ModelId } from '../port.ts'
import { outputItemSchema, toUsage, usageSchema } from './answer.ts'
import { type OpenAiCore, orMissing, requestOnce } from './core.ts'
import { toResponsesInput } from './input.ts'

const compactionSchema = z.object({ output: z.array(outputItemSchema).min(1), usage: usageSchema })

/** `/responses/compact`: the service's opaque replacement for a long input. */
export function createCompactionModel(core: OpenAiCore, model: string): CompactionModel {
  const id: ModelId = { provider: core.provider, model }
  return {
    id,
    compact: ({ instructions, input }, signal) =>
      requestOnce(core, signal, async (attemptSignal) => {
        const client = await core.load()
        const items = toResponsesInput({ input }, id, core)
        const body: ResponseCompactParams = { model, instructions, input: items }
        const raw = await client
          .post<unknown>('/responses/compact', { body, signal: attemptSignal })
          .catch(orMissing(core, 'compaction', id))
        const { output, usage } = compactionSchema.parse(raw)
        return { blob: JSON.stringify(output), usage: toUsage(usage, () => JSON.stringify(items), output) }
      }),
  }
}
