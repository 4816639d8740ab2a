import * as z from 'zod'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Append } from '../../../ledger/event.ts'
import { parseJson } from '../../lib/parse-json.ts'
import { formatLocal, toLocalIso } from '../../lib/time.ts'
import type {
  ActingContext,
  Deed,
  Planned,
  Tool,
  ToolClass,
  ToolContext,
  ToolResult,
} from '../../model/tool.ts'
import { type Right, reaches } from '../../settings/rights.ts'

/** Limits per turn. A model that exceeds them was probably manipulated. */
const MAX_CHANGES = 20
const MAX_TEXTS = 5

/** Why the owner is asked to choose. */
const UNCLEAR = 'It is not clear what you mean, so nothing was done yet.'

const READ_ONLY =
  'Not done: by this channel, the owner allows only reading. It can be done in the browser, where the settings can also allow more.'

export type Tally = { changes: number; texts: number }

/** Asks the owner to confirm a deed in the browser. */
export type Propose = (
  proposed: {
    readonly tool: string
    readonly class: ToolClass
    readonly deed: Deed
    readonly why: string
  },
  context: ActingContext,
) => Promise<{ readonly expiresAt: string }>

/** A recorded call by the model. `turnId` names an earlier turn that made it but was cut off. */
export type RecordedCall = {
  readonly callId: string
  readonly tool: string
  readonly arguments: string
  readonly turnId?: string
  /** The owner wants it. Otherwise a consequential tool only proposes. */
  readonly authorised?: boolean
  /** Whether the model had foreign words before it; absent if unknown. */
  readonly foreign?: boolean
  readonly seq: number
  /** The message behind it was forgotten meanwhile. */
  readonly erased: boolean
}

/** The result of a call, for the model. */
export type ToolOutput = {
  readonly callId: string
  readonly output: string
  /** What was read, if the output has foreign words. */
  readonly foreign: string | null
  /** The fact of the outcome. */
  readonly seq: number
}

/**
 * Runs the recorded calls of one round and records their outcomes: in parallel if all are read-only, otherwise
 * in order. Invalid arguments are refused and recorded.
 */
export function createToolRunner(options: {
  readonly append: Append
  readonly tools: ReadonlyMap<string, Tool>
  readonly propose: Propose
  /** Those of the facts that may hold words of others. */
  readonly foreignAmong: (seqs: readonly number[]) => readonly number[]
  readonly nowMs: () => number
  readonly onFault: (error: unknown, tool: string) => void
}) {
  const { append, tools, nowMs, onFault } = options

  async function execute(
    call: RecordedCall,
    context: ActingContext,
    { tally, why, right }: RoundContext,
  ): Promise<ToolResult> {
    const tool = tools.get(call.tool)
    if (!tool) return { ok: false, reason: 'unknown_tool', message: `There is no tool ${call.tool}.` }
    const args = parseArguments(tool, call.arguments)
    if (!args.success) {
      const problems = args.error.issues.map(
        (issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`,
      )
      return { ok: false, reason: 'invalid_arguments', message: problems.join('; ') }
    }
    if (!tool.readOnly && call.erased)
      return { ok: false, reason: 'forgotten', message: 'What asked for this was forgotten.' }
    // Where only reading is allowed, nothing is proposed either.
    if (!tool.readOnly && !reaches(right, 'free'))
      return { ok: false, reason: 'not_allowed', message: READ_ONLY }
    const limit = tool.readOnly ? null : limitReached(tool, tally)
    if (limit !== null) return { ok: false, reason: 'turn_limit', message: limit }
    try {
      if (!tool.readOnly && tool.plan && !call.authorised) {
        const planned = await tool.plan(args.data, context)
        if (!mayNote(planned, context)) return await ask(tool, planned, why, context)
      }
      const result = await tool.run(args.data, context)
      if (result.ok || !result.choice) return result
      const asked = { tool: tool.name, class: tool.class, deed: result.choice, why: UNCLEAR }
      return choiceOf(result.choice, await options.propose(asked, context), context)
    } catch (error) {
      // Without a recorded fact there is no outcome. The turn stays open and is resumed.
      if (context.signal.aborted || error instanceof LedgerUnavailable) throw error
      onFault(error, call.tool)
      return { ok: false, reason: 'fault', message: 'The tool failed; the log says why.' }
    }
  }

  async function ask(tool: Tool, planned: Planned, why: string, context: ActingContext): Promise<ToolResult> {
    if ('refusal' in planned) return planned.refusal
    const { deed } = planned
    const proposal = await options.propose({ tool: tool.name, class: tool.class, deed, why }, context)
    if (deed.choices && deed.choices.length > 1) return choiceOf(deed, proposal, context)
    return {
      ok: false,
      reason: 'needs_confirmation',
      message:
        `Nothing was done yet. “${deed.title}” waits for the owner's confirmation on the timeline in the browser, ` +
        `with the buttons “${deed.verb}” and “Decline”, until ${formatLocal(new Date(proposal.expiresAt), context.timezone)}. Tell the owner so; do not call this again.`,
      derivedFrom: deed.derivedFrom,
    }
  }

  async function runOne(call: RecordedCall, round: RoundContext): Promise<ToolOutput> {
    const startedMs = nowMs()
    const key = `tool:${call.turnId ?? round.turnId}:${call.callId}`
    const isDoubtful = round.isUnasked === true && call.foreign !== false
    const context = { ...round, callId: call.callId, key, calledSeq: call.seq, isDoubtful }
    const result = await execute(call, context, round)
    const durationMs = Math.max(0, Math.round(nowMs() - startedMs))
    const output = JSON.stringify(
      result.ok
        ? { ok: true, ...result.data }
        : { ok: false, reason: result.reason, message: result.message, ...result.data },
      (key, value: unknown) => (isInstant(key, value) ? toLocalIso(new Date(value), round.timezone) : value),
    )
    const isForeign = options.foreignAmong(result.derivedFrom ?? []).length > 0
    const { callId, tool, seq: calledSeq } = call
    const { channel, conversationId, spanId, turnId } = round
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
          foreign: isForeign || call.foreign !== false,
          refs: result.ok ? [...(result.refs ?? [])] : [],
        },
        body: { result: output },
      },
    ])
    const seq = appended.status === 'appended' ? appended.events[0]?.seq : appended.existing.seq
    const reads = tools.get(tool)?.reads ?? 'a tool result'
    return { callId, output, foreign: isForeign ? reads : null, seq: seq ?? calledSeq }
  }

  return {
    async run(calls: readonly RecordedCall[], round: RoundContext): Promise<ToolOutput[]> {
      if (calls.every((call) => tools.get(call.tool)?.readOnly))
        return Promise.all(calls.map((call) => runOne(call, round)))
      const outputs: ToolOutput[] = []
      for (const call of calls) outputs.push(await runOne(call, round))
      return outputs
    },
    isIdempotent: (tool: string) => tools.get(tool)?.idempotent ?? true,
  }
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** Whether a value is a time. A model reads times more reliably in the owner's time zone. */
function isInstant(key: string, value: unknown): value is string {
  return /^(?:at|since|now|\w+At|\w+Until)$/.test(key) && typeof value === 'string' && INSTANT.test(value)
}

/** By text and by voice, the right to note covers such a deed. An owner who types in the browser can confirm it there. */
function mayNote(planned: Planned, { channel }: ActingContext): boolean {
  return 'deed' in planned && planned.deed.isNote === true && (channel === 'sms' || channel === 'voice')
}

/** Tells the model what the owner can choose from. The list helps to ask; only the owner can choose. */
function choiceOf(
  { detail, derivedFrom }: Deed,
  { expiresAt }: { readonly expiresAt: string },
  { timezone }: Pick<ToolContext, 'timezone'>,
): ToolResult {
  return {
    ok: false,
    reason: 'ambiguous',
    message:
      `Nothing was done yet. Which is meant: ${detail}? Only the owner can choose, with the card that is on the ` +
      `timeline in the browser until ${formatLocal(new Date(expiresAt), timezone)}. Tell the owner in plain words that there is a choice to make, ` +
      'and where. Do not choose, and do not call this again.',
    data: { chooseUntil: expiresAt },
    derivedFrom,
  }
}

type RoundContext = Omit<ToolContext, 'callId' | 'key'> & {
  /** Tells the owner where the request to confirm comes from. */
  readonly why: string
  readonly tally: Tally
  /** An activation, which nobody asked for. */
  readonly isUnasked?: boolean
  /** What the channel may do. */
  readonly right: Right
}

/** Counts the changes and texts among the tools that a turn has called. */
export function tallyOf(called: readonly string[], tools: ReadonlyMap<string, Tool>): Tally {
  const changing = called.flatMap((name) => {
    const tool = tools.get(name)
    return tool && !tool.readOnly ? [tool] : []
  })
  return { changes: changing.length, texts: changing.filter(({ texts }) => texts).length }
}

/** Counts a changing call. Returns the refusal if it exceeds a limit, else null. */
function limitReached({ texts }: Tool, tally: Tally): string | null {
  tally.changes += 1
  if (texts) tally.texts += 1
  if (tally.changes > MAX_CHANGES)
    return `Not done: one message may lead to at most ${MAX_CHANGES} changes. Ask the owner whether to go on.`
  if (texts && tally.texts > MAX_TEXTS)
    return `Not sent: one message may lead to at most ${MAX_TEXTS} texts. Ask the owner whether to go on.`
  return null
}

/** Validates the arguments of a call. */
export function parseArguments({ parameters }: Tool, json: string) {
  const given = parseJson(json === '' ? '{}' : json)
  // Without strict schemas, a model leaves out what would be null.
  const nulls = Object.entries(parameters.shape).flatMap(([key, value]) =>
    z.safeParse(value, null).success && !z.safeParse(value, undefined).success ? [[key, null]] : [],
  )
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  return parameters.strict().safeParse(isObject ? { ...Object.fromEntries(nulls), ...given } : given)
}
