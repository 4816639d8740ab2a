import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
} from 'openai/resources/chat/completions'
import { withAttempts } from '../openai/attempts.ts'
import { attemptOptions, type OpenAiCore, scopeOf, sendSupported } from '../openai/core.ts'
import { openStream, readEvents } from '../openai/stream.ts'
import { toBriefSchema, toStrictSchema } from '../openai/strict-schema.ts'
import { closedEarly, toResponseId } from '../openai/text.ts'
import type { ModelId, TextEvent, TextModel, TextRequest, ToolSpec } from '../port.ts'
import { createAssembly } from './answer.ts'
import { toMessages, toSystem } from './input.ts'

type WithFunctionTools = Omit<TextRequest, 'tools'> & {
  readonly tools: readonly ChatCompletionFunctionTool[]
}

/** Text turns over chat completions: streamed, with strict tools where the server has them. */
export function createCompletionsTextModel(core: OpenAiCore, model: string): TextModel {
  const id: ModelId = { provider: core.provider, model }
  const scope = scopeOf(core, id)

  function paramsOf(request: WithFunctionTools): ChatCompletionCreateParamsStreaming {
    const { tools } = request
    const strict = !request.isBrief && !core.capabilities.lacks(scope, 'strict_tools')
    const hasUsage = !core.capabilities.lacks(scope, 'stream_usage')
    return {
      model,
      messages: toMessages(request, id, core),
      stream: true,
      ...(hasUsage ? { stream_options: { include_usage: true } } : {}),
      ...(tools.length === 0 ? {} : { tools: tools.map((tool) => withStrict(tool, strict)) }),
      ...limitOf(core, scope, request.maxOutputTokens),
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
      (body) => openStream(core, '/chat/completions', body, signal),
    )
    const assembly = createAssembly(core.secrets)
    const reader = { whole: assembly.add, next: assembly.add, isLast: () => false }
    for await (const text of readEvents(core, stream, alive, reader))
      if (text !== '') yield { type: 'text.delta', text }
    signal.throwIfAborted()
    const answer = assembly.finish(() => JSON.stringify(params))
    if (answer === null) throw closedEarly(core)
    const { id: responseId, truncated, ...rest } = answer
    yield {
      type: 'completed',
      ...rest,
      responseId: toResponseId(responseId),
      ...(truncated ? { truncated } : {}),
    }
  }

  return {
    id,
    asSent: (instructions) => toSystem(instructions, core),
    respond(request, signal) {
      const wanted = { ...request, tools: request.tools.map((tool) => toFunctionTool(tool, request.isBrief)) }
      return withAttempts((attemptSignal, alive) => attempt(wanted, attemptSignal, alive), {
        ...attemptOptions(core, signal),
        firstEventMs: core.limits.firstEventMs,
      })
    },
  }
}

/** The limit in the form of the service, unless it refuses one, and OpenAI's own storage turned off. */
export function limitOf(
  { isOpenAi, capabilities }: Pick<OpenAiCore, 'isOpenAi' | 'capabilities'>,
  scope: string,
  maxTokens: number | undefined,
) {
  const isLimited = maxTokens !== undefined && !capabilities.lacks(scope, 'output_limit')
  if (!isOpenAi) return isLimited ? { max_tokens: maxTokens } : {}
  return { store: false, ...(isLimited ? { max_completion_tokens: maxTokens } : {}) }
}

/** A tool in the form of chat completions. */
export function toFunctionTool(
  { name, description, brief = description, parameters }: ToolSpec,
  isBrief = false,
): ChatCompletionFunctionTool {
  const schema = isBrief ? toBriefSchema(parameters) : toStrictSchema(parameters)
  return {
    type: 'function',
    function: { name, description: isBrief ? brief : description, parameters: schema },
  }
}

function withStrict(tool: ChatCompletionFunctionTool, strict: boolean): ChatCompletionFunctionTool {
  return strict ? { ...tool, function: { ...tool.function, strict } } : tool
}
