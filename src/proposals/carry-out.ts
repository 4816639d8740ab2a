import { createHash } from 'node:crypto'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { ProposalRow } from '../../projections/proposals.ts'
import type { ActingContext, Tool, ToolResult } from '../tools/tool.ts'

/** What a confirmed proposal came to. */
export type Outcome = {
  readonly outcome: 'done' | 'refused' | 'failed'
  readonly reason?: string
  readonly text: string
}

const CHANGED = 'It has changed since you were asked, so nothing was done. Ask for it again.'
/** A tool that takes longer has failed. */
const LIMIT_MS = 60_000
const PAGE = 200

/** The SHA-256 of what is proposed, as canonical JSON: keys in order, at every depth. */
export function digestOf(proposed: {
  readonly tool: string
  readonly arguments: unknown
  readonly subject: string
}): string {
  return createHash('sha256').update(canonical(proposed)).digest('hex')
}

/** JSON with the keys of every object in order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
}

/**
 * Does what the owner confirmed, to the letter, or nothing. It may be asked again after a crash: what was done then is
 * found by the facts that it left.
 */
export function createCarryOut(options: {
  readonly ledger: LedgerReader
  readonly tools: () => ReadonlyMap<string, Tool>
  readonly timezone: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}): (row: ProposalRow) => Promise<Outcome> {
  const { ledger } = options

  /** Whether an attempt that a crash cut off had its effect: a fact that the owner's word caused. */
  function isDone(settledSeq: number): boolean {
    for (let last = settledSeq; ; ) {
      const events = ledger.readAfter(last, PAGE)
      if (events.some(({ causedBy }) => causedBy === settledSeq)) return true
      if (events.length < PAGE) return false
      last = events.at(-1)?.seq ?? last
    }
  }

  return async ({ proposalId, madeSeq, settledSeq, tool: name, digest }) => {
    const [made] = ledger.readSeqs([madeSeq])
    const body = made?.type === 'proposal.made' ? made.body : null
    const tool = options.tools().get(name ?? '')
    if (!body || !tool || tool.readOnly || settledSeq === null)
      return refused('unavailable', 'This can no longer be done.')
    if (isDone(settledSeq)) return { outcome: 'done', text: '' }
    const stored: unknown = JSON.parse(body.arguments ?? '{}')
    const subject = body.subject ?? ''
    const args = tool.parameters.strict().safeParse(stored)
    if (!args.success || digest !== digestOf({ tool: tool.name, arguments: stored, subject }))
      return refused('changed', CHANGED)
    const context: ActingContext = {
      turnId: made?.turnId ?? proposalId,
      callId: proposalId,
      conversationId: made?.conversationId ?? null,
      spanId: made?.spanId ?? null,
      channel: 'chat',
      // The owner's word is what is answered here.
      messageSeq: settledSeq,
      calledSeq: settledSeq,
      key: `proposal:${proposalId}`,
      timezone: options.timezone(),
      nowMs: options.nowMs(),
      signal: AbortSignal.timeout(LIMIT_MS),
    }
    try {
      const planned = await tool.plan?.(args.data, context)
      if (planned && 'refusal' in planned) return outcomeOf(planned.refusal)
      if (planned?.deed.subject !== subject) return refused('changed', CHANGED)
      return outcomeOf(await tool.run(args.data, context))
    } catch (error) {
      if (error instanceof LedgerUnavailable) throw error
      options.onFault(error)
      return { outcome: 'failed', reason: 'fault', text: 'It failed; the log says why.' }
    }
  }
}

function refused(reason: string, text: string): Outcome {
  return { outcome: 'refused', reason, text }
}

function outcomeOf(result: ToolResult): Outcome {
  return result.ok ? { outcome: 'done', text: '' } : refused(result.reason, result.message)
}

/** The fact of what a proposal came to. */
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
