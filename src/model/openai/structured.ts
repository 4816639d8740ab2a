import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import type * as z from 'zod'
import { english } from '../../language/message.ts'
import { ModelError, type ModelId, type StructuredModel, type StructuredRequest } from '../port.ts'
import { readAnswer, responseSchema, toUsage } from './answer.ts'
import { type OpenAiCore, orNoResponses, requestOnce, scopeOf, sendSupported } from './core.ts'
import { DATA_BLOCK_RULE } from './data-block.ts'
import { toResponsesInput } from './input.ts'
import { type StrictSchema, toStrictSchema } from './strict-schema.ts'

export type WithStrictSchema = Omit<StructuredRequest<z.ZodType>, 'schema'> & {
  readonly schema: StrictSchema
}

/** Answers that match a schema: by structured outputs, or by a request for JSON if the server lacks them. */
export function createStructuredModel(core: OpenAiCore, model: string): StructuredModel {
  const id: ModelId = { provider: core.provider, model }
  const scope = scopeOf(core, id)

  function paramsOf(request: WithStrictSchema): ResponseCreateParamsNonStreaming {
    const { name, schema, maxOutputTokens } = request
    const isConstrained = !core.capabilities.lacks(scope, 'json_schema')
    const asked = isConstrained ? [] : [inWords(schema)]
    return {
      model,
      instructions: [request.instructions, DATA_BLOCK_RULE, ...asked].join('\n\n'),
      input: toResponsesInput(request, id, core),
      store: false,
      ...(maxOutputTokens === undefined || core.capabilities.lacks(scope, 'output_limit')
        ? {}
        : { max_output_tokens: maxOutputTokens }),
      ...(isConstrained ? { text: { format: { type: 'json_schema', name, schema, strict: true } } } : {}),
    }
  }

  return {
    id,
    async answer(request, signal) {
      const wanted = { ...request, schema: toStrictSchema(request.schema) }
      return await requestOnce(core, signal, async (attemptSignal) => {
        const client = await core.load()
        const { params, answer } = await sendSupported(
          core,
          scope,
          () => paramsOf(wanted),
          (body) =>
            client.post<unknown>('/responses', { body, signal: attemptSignal }).catch(orNoResponses(core)),
        )
        const response = responseSchema.parse(answer)
        const { text } = readAnswer(response, core.secrets)
        return {
          value: parseValue(request.schema, text),
          usage: toUsage(response.usage, () => JSON.stringify(params), text),
        }
      })
    },
  }
}

/** Asks for the schema in the instructions. */
export function inWords(schema: StrictSchema): string {
  return `Answer with one JSON object and nothing else, of this JSON Schema:\n${JSON.stringify(schema)}`
}

/** Throws ModelError `malformed` for a text that does not match. */
export function parseValue<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  const parsed = schema.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new ModelError('malformed', english`The answer of the model does not match the requested schema.`, {
    // Paths and codes only: the values are private.
    cause: new Error(parsed.error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`).join('; ')),
  })
}

/** Ignores text around the JSON: local models often add a code fence. */
function parseJson(text: string): unknown {
  const start = text.indexOf('{')
  const end = text.lastIndexOf('}')
  return JSON.parse(start >= 0 && end > start ? text.slice(start, end + 1) : text)
}
