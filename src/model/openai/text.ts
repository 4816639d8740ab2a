import type { FunctionTool, ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import {
  type InputItem,
  ModelError,
  type ModelId,
  type TextEvent,
  type TextModel,
  type TextRequest,
  type ToolSpec,
} from '../port.ts'
import { readAnswer, toUsage } from './answer.ts'
import { withAttempts } from './attempts.ts'
import { refusesOpaque } from './capabilities.ts'
import { attemptOptions, giveUpRefused, type OpenAiCore, scopeOf } from './core.ts'
import { withDataBlockRule } from './data-block.ts'
import { toResponsesInput } from './input.ts'
import { openStream, readStream } from './stream.ts'
import type { StrictSchemas } from './strict-schema.ts'

/** Text turns over the Responses API: streamed, stateless, with tools in strict mode. */
export function createTextModel(core: OpenAiCore, model: string): TextModel {
  const id: ModelId = { provider: core.provider, model }
  const scope = scopeOf(core, id)
  const toFunctionTool = createToolConverter(core.schemas)

  function paramsOf(request: TextRequest, self: ModelId | null): ResponseCreateParamsStreaming {
    const { capabilities, dataBlock, splitsRoleTokens } = core
    const { tools, maxOutputTokens } = request
    const strict = !capabilities.lacks(scope, 'strict_tools')
    return {
      model,
      instructions: withDataBlockRule(request.instructions),
      input: toResponsesInput(request, { self, dataBlock, splitsRoleTokens }),
      stream: true,
      store: false,
      ...(capabilities.lacks(scope, 'encrypted_reasoning')
        ? {}
        : { include: ['reasoning.encrypted_content'] }),
      ...(tools.length === 0 ? {} : { tools: tools.map((tool) => toFunctionTool(tool, strict)) }),
      ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    }
  }

  /** Opens the stream, without what the service turns out not to take: a refinement, or its own old items. */
  async function open(request: TextRequest, signal: AbortSignal) {
    let self: ModelId | null = id
    for (;;) {
      const params = paramsOf(request, self)
      try {
        return { stream: await openStream(core, params, signal), params, usedFallback: self === null }
      } catch (error) {
        if (self !== null && refusesOpaque(error) && canFallBack(request.input, id)) self = null
        else giveUpRefused(core, scope, error)
      }
    }
  }

  async function* attempt(
    request: TextRequest,
    signal: AbortSignal,
    alive: () => void,
  ): AsyncGenerator<TextEvent> {
    const { stream, params, usedFallback } = await open(request, signal)
    let text = ''
    for await (const event of readStream(core, stream, alive)) {
      if (event.type === 'delta') {
        text += event.text
        yield { type: 'text.delta', text: event.text }
        continue
      }
      const answer = readAnswer(event.response, core.secrets)
      // A server that does not stream says all of it at the end; what was streamed is what was seen.
      if (text === '' && answer.text !== '') yield { type: 'text.delta', text: answer.text }
      yield {
        type: 'completed',
        text: text || answer.text,
        toolCalls: answer.toolCalls,
        usage: toUsage(event.response.usage, () => JSON.stringify(params), event.response.output),
        responseId: toResponseId(event.response.id),
        blob: answer.blob,
        ...(answer.truncated ? { truncated: true } : {}),
        ...(usedFallback ? { usedFallback } : {}),
      }
      return
    }
    throw new ModelError(
      'unavailable',
      `The model service at ${core.where} broke off in the middle of its answer.`,
    )
  }

  return {
    id,
    told: withDataBlockRule,
    respond(request, signal) {
      // A tool that strict mode cannot express is our own mistake: it must not look like the service's.
      for (const { parameters } of request.tools) core.schemas(parameters)
      return withAttempts((attemptSignal, alive) => attempt(request, attemptSignal, alive), {
        ...attemptOptions(core, signal),
        firstEventMs: core.limits.firstEventMs,
      })
    },
  }
}

/** What a fact can hold for an id. */
function toResponseId(id: string | null | undefined): string | null {
  return id && id.length <= 200 ? id : null
}

/** Tools as the Responses API takes them; each made once, so that it is encoded once. */
function createToolConverter(schemas: StrictSchemas): (tool: ToolSpec, strict: boolean) => FunctionTool {
  const made = { strict: new WeakMap<ToolSpec, FunctionTool>(), loose: new WeakMap<ToolSpec, FunctionTool>() }
  return (tool, strict) => {
    const known = strict ? made.strict : made.loose
    const { name, description, parameters } = tool
    const converted = known.get(tool) ?? {
      type: 'function',
      name,
      description,
      parameters: schemas(parameters),
      strict,
    }
    known.set(tool, converted)
    return converted
  }
}

/** Whether nothing is lost when the opaque items that would be sent are replaced. */
function canFallBack(input: readonly InputItem[], self: ModelId): boolean {
  const sent = input.filter(
    (item) =>
      item.type === 'opaque' && item.model.provider === self.provider && item.model.model === self.model,
  )
  return sent.length > 0 && sent.every((item) => item.type === 'opaque' && item.fallback !== undefined)
}
