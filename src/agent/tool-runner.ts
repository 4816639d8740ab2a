import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append } from '../../ledger/event.ts'
import type { Tool, ToolContext, ToolResult } from '../tools/tool.ts'

/** A call as the model made it; with the turn in which it did, where a turn before this one was cut off within it. */
export type Call = {
  readonly callId: string
  readonly tool: string
  readonly arguments: string
  readonly turnId?: string
}

/** The fact of a call; erased where the message that asked for it was forgotten meanwhile. */
export type CallFact = { readonly seq: number; readonly erased: boolean }

/** What a round of calls came to. */
export type Outcomes = {
  /** For the model, in the order of the calls. */
  readonly outputs: readonly { readonly callId: string; readonly output: string }[]
  /**
   * The seqs of their facts in the same order, once these are in the ledger. Nothing that the model makes of the
   * outputs counts before. Rejects with LedgerUnavailable.
   */
  readonly recorded: Promise<readonly number[]>
}

/**
 * Runs the calls of one round: side by side if all of them only read, else one after the other, in order. What only
 * reads is run while its call is being recorded; what does something has a fact before, and one of its outcome before
 * the next is run. Arguments that do not fit are refused and recorded, not run.
 */
export function createToolRunner(options: {
  readonly append: Append
  readonly tools: ReadonlyMap<string, Tool>
  readonly nowMs: () => number
  readonly onFault: (error: unknown, tool: string) => void
}) {
  const { append, tools, nowMs, onFault } = options

  async function execute(call: Call, called: Promise<CallFact>, context: ToolContext): Promise<ToolResult> {
    const tool = tools.get(call.tool)
    if (!tool) return { ok: false, reason: 'unknown_tool', message: `There is no tool ${call.tool}.` }
    const args = tool.parameters.strict().safeParse(parseJson(call.arguments))
    if (!args.success) {
      const problems = args.error.issues.map(
        (issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`,
      )
      return { ok: false, reason: 'invalid_arguments', message: problems.join('; ') }
    }
    if (!tool.readOnly && (await called).erased)
      return { ok: false, reason: 'forgotten', message: 'What asked for this was forgotten.' }
    try {
      if (tool.readOnly) return await tool.run(args.data, context)
      return await tool.run(args.data, { ...context, calledSeq: (await called).seq })
    } catch (error) {
      // A tool that could not write its fact has no outcome: the turn stays as it is and is taken up again.
      if (context.signal.aborted || error instanceof LedgerUnavailable) throw error
      onFault(error, call.tool)
      return { ok: false, reason: 'fault', message: 'The tool failed; the log says why.' }
    }
  }

  /** Runs one call; its fact is recorded after that of the call itself. */
  async function runOne(call: Call, called: Promise<CallFact>, round: RoundContext): Promise<Ran> {
    const startedMs = nowMs()
    const key = `tool:${call.turnId ?? round.turnId}:${call.callId}`
    const result = await execute(call, called, { ...round, callId: call.callId, key })
    const durationMs = Math.max(0, Math.round(nowMs() - startedMs))
    const output = JSON.stringify(
      result.ok
        ? { ok: true, ...result.data }
        : { ok: false, reason: result.reason, message: result.message },
    )
    const recorded = called.then(({ seq }) => record(call, seq, round, { result, output, durationMs }))
    // Looked at with the others of its round, which may take longer, or throw.
    recorded.catch(() => undefined)
    return { output: { callId: call.callId, output }, recorded }
  }

  async function record(
    { callId, tool }: Call,
    calledSeq: number,
    { channel, conversationId, spanId, turnId }: RoundContext,
    { result, output, durationMs }: { result: ToolResult; output: string; durationMs: number },
  ): Promise<number> {
    const appended = await append([
      {
        type: 'tool.returned',
        actor: 'service',
        channel,
        conversationId,
        spanId,
        turnId,
        key: `tool-returned:${turnId}:${callId}`,
        causedBy: calledSeq,
        derivedFrom: [calledSeq, ...(result.derivedFrom ?? [])],
        facts: {
          callId,
          tool,
          outcome: result.ok ? 'ok' : result.reason === 'fault' ? 'failed' : 'refused',
          reason: result.ok ? undefined : result.reason,
          durationMs,
          refs: result.ok ? [...(result.refs ?? [])] : [],
        },
        body: { result: output },
      },
    ])
    return appended.status === 'appended' ? (appended.events[0]?.seq ?? calledSeq) : appended.existing.seq
  }

  return {
    /** `called` are the facts of the calls, in their order, which may still be being written. */
    async run(
      calls: readonly Call[],
      called: Promise<readonly CallFact[]>,
      round: RoundContext,
    ): Promise<Outcomes> {
      const runAt = (call: Call, index: number) => {
        const own = called.then((facts) => factOf(facts, index))
        // Looked at when the outcome is recorded, unless the tool throws before.
        own.catch(() => undefined)
        return runOne(call, own, round)
      }
      if (calls.every((call) => tools.get(call.tool)?.readOnly)) {
        return outcomesOf(await Promise.all(calls.map(runAt)))
      }
      const ran: Ran[] = []
      for (const [index, call] of calls.entries()) {
        const one = await runAt(call, index)
        await one.recorded
        ran.push(one)
      }
      return outcomesOf(ran)
    },
    isIdempotent: (tool: string) => tools.get(tool)?.idempotent ?? true,
  }
}

/** What the calls of a round have in common. */
type RoundContext = Omit<ToolContext, 'callId' | 'key'>

/** One call that was run: what the model hears, and the seq of its fact once that is in the ledger. */
type Ran = { readonly output: Outcomes['outputs'][number]; readonly recorded: Promise<number> }

function outcomesOf(ran: readonly Ran[]): Outcomes {
  const recorded = Promise.all(ran.map((each) => each.recorded))
  // Whoever goes on from the outputs looks at it; where the turn ends before, nobody does.
  recorded.catch(() => undefined)
  return { outputs: ran.map(({ output }) => output), recorded }
}

function factOf(facts: readonly CallFact[], index: number): CallFact {
  const fact = facts[index]
  if (!fact) throw new Error('a call has no fact')
  return fact
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    // Not JSON at all: the schema says so better than a parser's message would.
    return text
  }
}
