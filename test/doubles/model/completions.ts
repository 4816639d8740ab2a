import type { AnswerContext, Json } from './answer.ts'
import type { Reply, ScriptedCall, ScriptedUsage } from './script.ts'

/**
 * How a server speaks chat completions, by its documentation and what its users report:
 * - `openai`: calls in pieces by index, usage on request.
 * - `ollama`: thoughts inside the text; calls whole, all of index 0, with arguments as objects; no usage.
 * - `llama.cpp`: empty deltas, thoughts apart, calls in pieces without an id.
 * - `vllm`: thoughts apart, calls in pieces, nulls and fields of its own.
 */
export const dialects = ['openai', 'ollama', 'llama.cpp', 'vllm'] as const
export type Dialect = (typeof dialects)[number]

/** A chunk of a stream, under the name of the event of the Responses API that it corresponds to. */
export type Chunk = { readonly type: string; readonly body: Json }

/** A reply as a server of the dialect streams it. */
export function chunksOf(reply: Reply, context: AnswerContext, dialect: Dialect): Chunk[] {
  const head = headOf(context, 'chat.completion.chunk')
  const chunk = (type: string, delta: Json, finishReason: string | null = null): Chunk => ({
    type: `response.${type}`,
    body: { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] },
  })
  const text = (content: string) => chunk('output_text.delta', { content })
  const thoughts = reply.thoughts
    ? [dialect === 'ollama' ? text(`<think>${reply.thoughts}`) : chunk('thoughts', thoughtsOf(reply))]
    : []
  const close = reply.thoughts && dialect === 'ollama' ? [text('</think>\n\n')] : []
  return [
    chunk('created', { role: 'assistant', content: dialect === 'llama.cpp' ? null : '' }),
    ...thoughts,
    ...close,
    ...deltasOf(reply).map(text),
    ...(dialect === 'llama.cpp' ? [chunk('in_progress', {})] : []),
    ...(reply.refusal === undefined ? [] : [chunk('refusal.delta', { refusal: reply.refusal })]),
    ...callPieces(reply.toolCalls ?? [], context, dialect).map((piece) =>
      chunk('function_call_arguments.delta', { tool_calls: [piece] }),
    ),
    chunk('completed', {}, finishReasonOf(reply, dialect)),
    ...usageChunk(reply, context, dialect).map((body) => ({
      type: 'response.usage',
      body: { ...head, ...body },
    })),
  ]
}

/** A reply as a server of the dialect sends it at once. */
export function completionOf(reply: Reply, context: AnswerContext, dialect: Dialect): Json {
  const thoughts = reply.thoughts && dialect === 'ollama' ? `<think>${reply.thoughts}</think>\n` : ''
  const toolCalls = (reply.toolCalls ?? []).map((call, index) => ({
    id: callIdOf(call, context, index),
    type: 'function',
    function: { name: call.name, arguments: argumentsOf(call) },
  }))
  const message = {
    role: 'assistant',
    content: `${thoughts}${deltasOf(reply).join('')}`,
    refusal: reply.refusal ?? null,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReasonOf(reply, dialect) }
  const usage = dialect === 'ollama' ? {} : { usage: usageOf(reply.usage ?? {}, context) }
  return { ...headOf(context, 'chat.completion'), choices: [choice], ...usage }
}

function headOf({ number, model }: AnswerContext, object: string): Json {
  return { id: `chatcmpl-${number}`, object, created: 1_780_000_000, model }
}

function deltasOf({ text }: Reply): readonly string[] {
  return text === undefined ? [] : [text].flat()
}

const thoughtsOf = ({ thoughts }: Reply): Json => ({ reasoning_content: thoughts })

function finishReasonOf({ incomplete, toolCalls = [] }: Reply, dialect: Dialect): string {
  if (incomplete) return incomplete === 'max_output_tokens' ? 'length' : 'content_filter'
  return toolCalls.length > 0 && dialect !== 'ollama' ? 'tool_calls' : 'stop'
}

function callIdOf({ callId }: ScriptedCall, { number }: AnswerContext, index: number): string {
  return callId ?? `call_${number}_${index}`
}

function argumentsOf({ arguments: args }: ScriptedCall): string {
  return typeof args === 'string' ? args : JSON.stringify(args)
}

function callPieces(calls: readonly ScriptedCall[], context: AnswerContext, dialect: Dialect): Json[] {
  return calls.flatMap((call, index): Json[] => {
    const { name, arguments: args } = call
    const id = dialect === 'llama.cpp' ? {} : { id: callIdOf(call, context, index) }
    if (dialect === 'ollama')
      return [{ index: 0, ...id, type: 'function', function: { name, arguments: args } }]
    const json = argumentsOf(call)
    const middle = Math.ceil(json.length / 2)
    const rest = [json.slice(0, middle), json.slice(middle)]
    return [
      { index, ...id, type: 'function', function: { name, arguments: '' } },
      ...rest.map((piece) => ({ index, function: { arguments: piece } })),
    ]
  })
}

function usageChunk(reply: Reply, context: AnswerContext, dialect: Dialect): Json[] {
  const options = context.request.stream_options as { include_usage?: boolean } | undefined
  if (dialect === 'ollama' || !options?.include_usage) return []
  return [{ choices: [], usage: usageOf(reply.usage ?? {}, context) }]
}

function usageOf(usage: Partial<ScriptedUsage>, { request }: AnswerContext): Json {
  const prompt = usage.inputTokens ?? Math.ceil(JSON.stringify(request.messages ?? '').length / 4)
  const completion = usage.outputTokens ?? 10
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens ?? 0 },
  }
}
