import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions'
import { english } from '../../language/message.ts'
import { type OpenAiCore, requestOnce, scopeOf, sendSupported } from '../openai/core.ts'
import { toStrictSchema } from '../openai/strict-schema.ts'
import { inWords, parseValue, type WithStrictSchema } from '../openai/structured.ts'
import { ModelError, type ModelId, type StructuredModel } from '../port.ts'
import { createAssembly } from './answer.ts'
import { toMessages } from './input.ts'
import { limitOf } from './text.ts'

/** Answers that match a schema: by a strict schema, in JSON mode, or by words alone, as the server allows. */
export function createCompletionsStructuredModel(core: OpenAiCore, model: string): StructuredModel {
  const id: ModelId = { provider: core.provider, model }
  const scope = scopeOf(core, id)

  function formatOf({ name, schema }: WithStrictSchema) {
    if (!core.capabilities.lacks(scope, 'json_schema'))
      return { type: 'json_schema', json_schema: { name, schema, strict: true } } as const
    return core.capabilities.lacks(scope, 'json_object') ? null : ({ type: 'json_object' } as const)
  }

  function paramsOf(request: WithStrictSchema): ChatCompletionCreateParamsNonStreaming {
    const format = formatOf(request)
    // Some servers accept a schema and ignore it. Where it only constrains the output, the words help the model.
    const isEnough = core.isOpenAi && format?.type === 'json_schema'
    const instructions = [request.instructions, ...(isEnough ? [] : [inWords(request.schema)])].join('\n\n')
    return {
      model,
      messages: toMessages({ input: request.input, instructions }, id, core),
      ...(format === null ? {} : { response_format: format }),
      ...limitOf(core, scope, request.maxOutputTokens),
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
          (body) => client.post<unknown>('/chat/completions', { body, signal: attemptSignal }),
        )
        const assembly = createAssembly(core.secrets)
        assembly.add(answer)
        const read = assembly.finish(() => JSON.stringify(params))
        if (read === null)
          throw new ModelError('malformed', english`The answer of the model is not finished.`)
        return { value: parseValue(request.schema, read.text), usage: read.usage }
      })
    },
  }
}
