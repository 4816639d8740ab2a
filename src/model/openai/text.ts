import type { FunctionTool, ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import { english } from '../../language/message.ts'
import {
  ModelError,
  type ModelId,
  type TextEvent,
  type TextModel,
  type TextRequest,
  type ToolSpec,
} from '../port.ts'
import { readAnswer, toUsage } from './answer.ts'
import { withAttempts } from './attempts.ts'
import { attemptOptions, type OpenAiCore, orNoResponses, scopeOf, sendSupported } from './core.ts'
import { withDataBlockRule } from './data-block.ts'
import { toResponsesInput } from './input.ts'
import { openStream, readStream } from './stream.ts'
import { toBriefSchema, toStrictSchema } from './strict-schema.ts'

type WithFunctionTools = Omit<TextRequest, 'tools'> & { readonly tools: readonly FunctionTool[] }

/** Text turns over the Responses API: streamed, stateless, with strict tools. */
export function createTextModel(core: OpenAiCore, model: string): TextModel {
  const id: ModelId = { provider: core.provider, model }
  const scope = scopeOf(core, id)

  function paramsOf(request: WithFunctionTools): ResponseCreateParamsStreaming {
    const { capabilities } = core
    const { tools, maxOutputTokens } = request
    const strict = !request.isBrief && !capabilities.lacks(scope, 'strict_tools')
    return {
      model,
      instructions: withDataBlockRule(request.instructions),
      input: toResponsesInput(request, id, core),
      stream: true,
      store: false,
      ...(capabilities.lacks(scope, 'encrypted_reasoning')
        ? {}
        : { include: ['reasoning.encrypted_content'] }),
      ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ ...tool, strict })) }),
      ...(maxOutputTokens === undefined || capabilities.lacks(scope, 'output_limit')
        ? {}
        : { max_output_tokens: maxOutputTokens }),
    }
  }

  async function* attempt(
    request: WithFunctionTools,
    signal: AbortSignal,
    alive: () => void,
  ): AsyncGenerator<TextEvent> {
    const { params, answer: stream } = await sendSupported(
      core,
      scope,
      () => paramsOf(request),
      (body) => openStream(core, '/responses', body, signal).catch(orNoResponses(core)),
    )
    let text = ''
    for await (const event of readStream(core, stream, alive)) {
      if (event.type === 'delta') {
        text += event.text
        yield { type: 'text.delta', text: event.text }
        continue
      }
      const answer = readAnswer(event.response, core.secrets)
      // A server that does not stream sends the whole text here.
      if (text === '' && answer.text !== '') yield { type: 'text.delta', text: answer.text }
      yield {
        type: 'completed',
        text: text || answer.text,
        toolCalls: answer.toolCalls,
        usage: toUsage(event.response.usage, () => JSON.stringify(params), event.response.output),
        responseId: toResponseId(event.response.id),
        blob: answer.blob,
        ...(answer.truncated ? { truncated: true } : {}),
      }
      return
    }
    throw closedEarly(core)
  }

  return {
    id,
    asSent: withDataBlockRule,
    respond(request, signal) {
      // Convert outside the attempts: a tool that strict mode cannot express is a bug, not a service failure.
      const wanted = { ...request, tools: request.tools.map((tool) => toFunctionTool(tool, request.isBrief)) }
      return withAttempts((attemptSignal, alive) => attempt(wanted, attemptSignal, alive), {
        ...attemptOptions(core, signal),
        firstEventMs: core.limits.firstEventMs,
      })
    },
  }
}

/** The error for a stream that ends in the middle of an answer. */
export function closedEarly({ where }: OpenAiCore): ModelError {
  const message = english`The model service at ${where} closed the connection in the middle of its answer.`
  return new ModelError('unavailable', message)
}

/** Null if the id is longer than a fact can hold. */
export function toResponseId(id: string | null | undefined): string | null {
  return id && id.length <= 200 ? id : null
}

function toFunctionTool(tool: ToolSpec, isBrief = false): FunctionTool {
  const { name, description, brief = description } = tool
  return isBrief
    ? {
        type: 'function',
        name,
        description: brief,
        parameters: toBriefSchema(tool.parameters),
        strict: false,
      }
    : { type: 'function', name, description, parameters: toStrictSchema(tool.parameters), strict: true }
}
