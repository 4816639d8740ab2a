import { createHash } from 'node:crypto'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { EventOf, NewEvent } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import type { ProposalRow } from '../../../projections/proposals.ts'
import { english } from '../../language/message.ts'
import { type ActingContext, refuse, type Tool, type ToolResult } from '../../model/tool.ts'

/** The outcome of a confirmed proposal. */
export type Outcome = {
  readonly outcome: 'done' | 'refused' | 'failed'
  readonly reason?: string
  readonly text: string
}

const CHANGED = english`Nothing was done, because it has changed since you were asked. Ask for it again.`
const LIMIT_MS = 60_000
const PAGE = 200

/** The SHA-256 of a proposal's canonical JSON. */
export function digestOf(proposed: {
  readonly tool: string
  readonly arguments: unknown
  readonly subject: string
  readonly salt?: string | undefined
}): string {
  return createHash('sha256').update(canonical(proposed)).digest('hex')
}

/** JSON with sorted keys at every depth. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}

/**
 * Carries out exactly what the owner confirmed, or nothing. Idempotent after a crash: a fact caused by the
 * confirmation shows that it was done.
 */
export function createCarryOut(options: {
  readonly ledger: LedgerReader
  readonly tools: () => ReadonlyMap<string, Tool>
  readonly timezone: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}): (row: ProposalRow) => Promise<Outcome> {
  const { ledger } = options

  /** Whether an earlier attempt took effect before a crash. */
  function isDone(settledSeq: number): boolean {
    for (let last = settledSeq; ; ) {
      const events = ledger.readAfter(last, PAGE)
      if (events.some(({ causedBy }) => causedBy === settledSeq)) return true
      if (events.length < PAGE) return false
      last = events.at(-1)?.seq ?? last
    }
  }

  /** Does what the owner chose, in the name of the message that asked for the choice. */
  async function choose(
    tool: Tool,
    { causedBy }: EventOf<'proposal.made'>,
    context: ActingContext,
  ): Promise<ToolResult> {
    const [confirmed] = ledger.readSeqs([context.calledSeq])
    const [called] = causedBy === null ? [] : ledger.readSeqs([causedBy])
    const chosen = confirmed?.type === 'proposal.confirmed' ? (confirmed.facts.chosen ?? []) : []
    if (!tool.choose || chosen.length === 0) return refuse('unavailable', english`Nothing was chosen.`)
    return tool.choose(chosen, called?.causedBy ?? null, context)
  }

  return async ({ proposalId, madeSeq, settledSeq, tool: name, digest }) => {
    const [made] = ledger.readSeqs([madeSeq])
    const tool = options.tools().get(name ?? '')
    if (made?.type !== 'proposal.made' || !made.body || !tool || tool.readOnly || settledSeq === null)
      return refused('unavailable', english`This can no longer be done.`)
    if (isDone(settledSeq)) return { outcome: 'done', text: '' }
    const stored: unknown = JSON.parse(made.body.arguments ?? '{}')
    const { subject = '', salt } = made.body
    if (digest !== digestOf({ tool: tool.name, arguments: stored, subject, salt }))
      return refused('changed', CHANGED)
    const context: ActingContext = {
      turnId: made.turnId ?? proposalId,
      callId: proposalId,
      conversationId: made.conversationId,
      spanId: made.spanId,
      channel: 'chat',
      // The confirmation takes the place of a message.
      messageSeq: settledSeq,
      calledSeq: settledSeq,
      key: `proposal:${proposalId}`,
      timezone: options.timezone(),
      nowMs: options.nowMs(),
      signal: AbortSignal.timeout(LIMIT_MS),
    }
    try {
      if (made.facts.choices) return outcomeOf(await choose(tool, made, context))
      const args = tool.parameters.strict().safeParse(stored)
      if (!args.success) return refused('changed', CHANGED)
      const planned = await tool.plan?.(args.data, context)
      if (planned && 'refusal' in planned) return outcomeOf(planned.refusal)
      if (planned?.deed.subject !== subject) return refused('changed', CHANGED)
      return outcomeOf(await tool.run(args.data, context))
    } catch (error) {
      if (error instanceof LedgerUnavailable) throw error
      options.onFault(error)
      return { outcome: 'failed', reason: 'fault', text: english`It failed. See the log for the cause.` }
    }
  }
}

function refused(reason: string, text: string): Outcome {
  return { outcome: 'refused', reason, text }
}

function outcomeOf(result: ToolResult): Outcome {
  return result.ok ? { outcome: 'done', text: '' } : refused(result.reason, result.message)
}

export function completed(
  row: Pick<ProposalRow, 'proposalId' | 'madeSeq' | 'settledSeq'>,
  { outcome, reason, text }: Outcome,
  place: Pick<NewEvent, 'conversationId' | 'spanId'>,
): NewEvent {
  return {
    type: 'proposal.completed',
    actor: 'service',
    channel: 'chat',
    ...place,
    key: `proposal-completed:${row.proposalId}`,
    ...(row.settledSeq === null ? {} : { causedBy: row.settledSeq }),
    derivedFrom: [row.madeSeq],
    facts: { proposalId: row.proposalId, outcome, ...(reason === undefined ? {} : { reason }) },
    body: { text },
  }
}
