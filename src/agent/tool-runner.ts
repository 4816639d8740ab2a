import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append, NewEvent } from '../../ledger/event.ts'
import type { Tool, ToolContext, ToolResult } from '../tools/tool.ts'

/** A call whose fact is in the ledger. */
export type RecordedCall = {
  readonly seq: number
  readonly callId: string
  readonly tool: string
  readonly arguments: string
}

export type ToolOutcome = { readonly callId: string; readonly output: string; readonly seq: number }

type CallContext = Omit<ToolContext, 'callId' | 'calledSeq' | 'key'>

/**
 * Runs the calls of one round: side by side if all of them only read, else one after the other, in order. Each
 * outcome is a fact before the model hears of it. Arguments that do not fit are refused and recorded, not run.
 */
export function createToolRunner(options: {
  readonly append: Append
  readonly tools: ReadonlyMap<string, Tool>
  readonly nowMs: () => number
  readonly onFault: (error: unknown, tool: string) => void
}) {
  const { append, tools, nowMs, onFault } = options

  async function runOne(call: RecordedCall, context: CallContext): Promise<ToolOutcome> {
    const startedMs = nowMs()
    const result = await execute(call, context)
    const { ok } = result
    const output = JSON.stringify(
      ok ? { ok, ...result.data } : { ok, reason: result.reason, message: result.message },
    )
    const event: NewEvent = {
      type: 'tool.returned',
      actor: 'service',
      channel: context.channel,
      conversationId: context.conversationId,
      spanId: context.spanId,
      turnId: context.turnId,
      key: `tool-returned:${context.turnId}:${call.callId}`,
      causedBy: call.seq,
      derivedFrom: [call.seq, ...(result.derivedFrom ?? [])],
      facts: {
        callId: call.callId,
        tool: call.tool,
        outcome: result.ok ? 'ok' : result.reason === 'fault' ? 'failed' : 'refused',
        reason: result.ok ? undefined : result.reason,
        durationMs: Math.max(0, Math.round(nowMs() - startedMs)),
        refs: result.ok ? [...(result.refs ?? [])] : [],
      },
      body: { result: output },
    }
    const appended = await append([event])
    const seq = appended.status === 'appended' ? (appended.events[0]?.seq ?? call.seq) : appended.existing.seq
    return { callId: call.callId, output, seq }
  }

  async function execute(call: RecordedCall, context: CallContext): Promise<ToolResult> {
    const tool = tools.get(call.tool)
    if (!tool) return { ok: false, reason: 'unknown_tool', message: `There is no tool ${call.tool}.` }
    const args = tool.parameters.strict().safeParse(parseJson(call.arguments))
    if (!args.success) {
      const problems = args.error.issues.map(
        (issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`,
      )
      return { ok: false, reason: 'invalid_arguments', message: problems.join('; ') }
    }
    try {
      const key = `tool:${context.turnId}:${call.callId}`
      return await tool.run(args.data, { ...context, callId: call.callId, calledSeq: call.seq, key })
    } catch (error) {
      // A tool that could not write its fact has no outcome: the turn stays as it is and is taken up again.
      if (context.signal.aborted || error instanceof LedgerUnavailable) throw error
      onFault(error, call.tool)
      return { ok: false, reason: 'fault', message: 'The tool failed; the log says why.' }
    }
  }

  return {
    async run(calls: readonly RecordedCall[], context: CallContext): Promise<ToolOutcome[]> {
      if (calls.every((call) => tools.get(call.tool)?.readOnly))
        return Promise.all(calls.map((call) => runOne(call, context)))
      const outcomes: ToolOutcome[] = []
      for (const call of calls) outcomes.push(await runOne(call, context))
      return outcomes
    },
    isIdempotent: (tool: string) => tools.get(tool)?.idempotent ?? true,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    // Not JSON at all: the schema says so better than a parser's message would.
    return text
  }
}
