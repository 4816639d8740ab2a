import type { Reply, ScriptedUsage } from './script.ts'

export type Json = Readonly<Record<string, unknown>>
/** An event of a stream; `sequence_number` is its position. */
export type StreamEvent = Json & { readonly type: string }

export type AnswerContext = { readonly model: string; readonly number: number; readonly request: Json }

/** The output items of a reply in their final form. */
export function outputOf(reply: Reply, number: number): Json[] {
  const items: Json[] = []
  if (reply.reasoning !== undefined) {
    items.push({ type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: reply.reasoning })
  }
  const deltas = deltasOf(reply)
  if (deltas.length > 0 || reply.refusal !== undefined) {
    const part =
      reply.refusal === undefined
        ? { type: 'output_text', text: deltas.join(''), annotations: [], logprobs: [] }
        : { type: 'refusal', refusal: reply.refusal }
    const status = reply.incomplete ? 'incomplete' : 'completed'
    items.push({ type: 'message', id: `msg_${number}`, role: 'assistant', status, content: [part] })
  }
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    const args = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
    items.push({
      type: 'function_call',
      id: `fc_${number}_${index}`,
      call_id: call.callId ?? `call_${number}_${index}`,
      name: call.name,
      arguments: args,
      status: 'completed',
    })
  }
  return items
}

function deltasOf({ text }: Reply): readonly string[] {
  if (text === undefined) return []
  return typeof text === 'string' ? [text] : text
}

/** The response object with a status and some output. */
export function responseOf(
  reply: Reply,
  context: AnswerContext,
  status: string,
  output: readonly Json[],
): Json {
  const { request } = context
  const isEnded = status !== 'in_progress'
  return {
    id: `resp_${context.number}`,
    object: 'response',
    created_at: 1_780_000_000,
    status,
    error: status === 'failed' ? (reply.failed ?? null) : null,
    incomplete_details: status === 'incomplete' ? { reason: reply.incomplete } : null,
    instructions: null,
    max_output_tokens: request.max_output_tokens ?? null,
    model: context.model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: request.tools ?? [],
    top_p: 1,
    truncation: 'disabled',
    metadata: {},
    ...(isEnded ? { usage: usageOf(reply.usage ?? {}, request, output) } : {}),
  }
}

export function statusOf(reply: Reply): 'completed' | 'incomplete' | 'failed' {
  if (reply.failed) return 'failed'
  return reply.incomplete ? 'incomplete' : 'completed'
}

/** Usage as scripted; any missing count is estimated at four bytes a token. */
export function usageOf(usage: Partial<ScriptedUsage>, request: Json, output: unknown): Json {
  const inputTokens = usage.inputTokens ?? Math.ceil(JSON.stringify(request.input ?? '').length / 4)
  const outputTokens = usage.outputTokens ?? Math.ceil(JSON.stringify(output).length / 4)
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens ?? 0, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: inputTokens + outputTokens,
  }
}

/** A reply as the official service streams it. */
export function eventsOf(reply: Reply, context: AnswerContext): StreamEvent[] {
  const output = outputOf(reply, context.number)
  const started = responseOf(reply, context, 'in_progress', [])
  const status = statusOf(reply)
  const events: StreamEvent[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...output.flatMap((item, index) => itemEvents(item, index, reply)),
    { type: `response.${status}`, response: responseOf(reply, context, status, output) },
  ]
  return events.map((event, index) => ({ ...event, sequence_number: index }))
}

function itemEvents(item: Json, index: number, reply: Reply): StreamEvent[] {
  const at = { output_index: index }
  const added = { type: 'response.output_item.added', ...at, item: { ...item, ...unfinished(item) } }
  const done = { type: 'response.output_item.done', ...at, item }
  const place = { item_id: item.id, ...at }
  if (item.type === 'message')
    return [added, ...partEvents(item, { ...place, content_index: 0 }, reply), done]
  if (item.type !== 'function_call') return [added, done]
  const { name, arguments: args } = item
  return [
    added,
    { type: 'response.function_call_arguments.delta', ...place, delta: args },
    { type: 'response.function_call_arguments.done', ...place, name, arguments: args },
    done,
  ]
}

function unfinished(item: Json): Json {
  if (item.type === 'message') return { status: 'in_progress', content: [] }
  return item.type === 'function_call' ? { status: 'in_progress', arguments: '' } : {}
}

function partEvents(item: Json, place: Json, reply: Reply): StreamEvent[] {
  const part = Array.isArray(item.content) ? (item.content[0] as Json) : {}
  const isText = part.type === 'output_text'
  const empty = isText ? { ...part, text: '' } : { type: 'refusal', refusal: '' }
  const said = isText
    ? [
        ...deltasOf(reply).map((delta) => ({
          type: 'response.output_text.delta',
          ...place,
          delta,
          logprobs: [],
        })),
        { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] },
      ]
    : [
        { type: 'response.refusal.delta', ...place, delta: part.refusal },
        { type: 'response.refusal.done', ...place, refusal: part.refusal },
      ]
  return [
    { type: 'response.content_part.added', ...place, part: empty },
    ...said,
    { type: 'response.content_part.done', ...place, part },
  ]
}
