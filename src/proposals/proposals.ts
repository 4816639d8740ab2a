import type { Append, NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { createProposalQueries, ProposalRow } from '../../projections/proposals.ts'
import type { Place, Placement } from '../conversation/placement.ts'
import { signalFact } from '../signals/signals.ts'
import type { ActingContext } from '../tools/tool.ts'

/** A text to somebody who is not the owner, that waits for the owner's word. */
export type Proposal = {
  readonly id: string
  readonly kind: ProposalRow['kind']
  readonly target: string
  readonly text: string
  readonly status: ProposalRow['status'] | 'expired'
  readonly madeAt: string
  readonly expiresAt: string
}

export type Settled =
  | { readonly status: 'confirmed' | 'declined'; readonly proposal: Proposal }
  | { readonly status: 'unknown' }
  /** It was settled before, or can be confirmed no more. */
  | { readonly status: 'too_late'; readonly proposal: Proposal }

export type Proposals = {
  /** Asks the owner to let this text go out; while the very same waits already, it is not asked again. */
  propose(text: { readonly target: string; readonly text: string }, context: ActingContext): Promise<Proposal>
  /** Those that wait, the oldest first. */
  open(): Proposal[]
  /** The owner's word, given in the browser: once, and before it expires. The text leaves by the outbox. */
  confirm(id: string): Promise<Settled>
  decline(id: string): Promise<Settled>
}

/** How long a text waits for the owner's word: they may be away from the browser for a day. */
const EXPIRES_AFTER_MS = 24 * 60 * 60_000
const MAX_ATTEMPTS = 3

/**
 * What the delegate may do only once the owner has said so in the browser. Proposal and word are facts, so they
 * outlive the process; the word and the order to send are one batch, so what was confirmed is sent exactly once.
 */
export function createProposals(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly queries: ReturnType<typeof createProposalQueries>
  readonly placement: Placement
  readonly nowMs: () => number
  readonly newId: () => string
}): Proposals {
  const { append, ledger, queries, placement, nowMs, newId } = options
  const at = (ms: number) => new Date(ms).toISOString()
  /** One that was made while the clock was far ahead would wait for as long. */
  const lastEnd = () => at(nowMs() + 2 * EXPIRES_AFTER_MS)

  function present(row: ProposalRow): Proposal {
    const [event] = ledger.readSeqs([row.madeSeq])
    const body = event?.type === 'proposal.made' ? event.body : null
    const isOver = row.status === 'open' && (row.expiresAt <= at(nowMs()) || row.expiresAt > lastEnd())
    return {
      id: row.proposalId,
      kind: row.kind,
      target: body?.target ?? '',
      text: body?.text ?? '',
      status: isOver ? 'expired' : row.status,
      madeAt: row.madeAt,
      expiresAt: row.expiresAt,
    }
  }
  function find(id: string): { row: ProposalRow; proposal: Proposal } | null {
    const row = queries.byId(id)
    return row ? { row, proposal: present(row) } : null
  }
  const open = () => queries.openBetween(at(nowMs()), lastEnd()).map(present)

  async function settle(
    id: string,
    status: 'confirmed' | 'declined',
    more: (row: ProposalRow, proposal: Proposal, at: Place) => readonly NewEvent[],
  ): Promise<Settled> {
    const found = find(id)
    if (!found) return { status: 'unknown' }
    const { row, proposal } = found
    if (proposal.status !== 'open') return { status: 'too_late', proposal }
    const result = await placement.appendToInteraction('chat', (at) => [
      {
        type: `proposal.${status}`,
        actor: 'owner',
        channel: 'chat',
        ...at,
        // Whichever word comes first stands.
        key: `proposal-settled:${id}`,
        causedBy: row.madeSeq,
        facts: { proposalId: id },
      },
      ...more(row, proposal, at),
    ])
    const after = find(id)?.proposal ?? proposal
    return result.status === 'appended'
      ? { status, proposal: after }
      : { status: 'too_late', proposal: after }
  }

  function tell(row: ProposalRow, text: string): NewEvent {
    return signalFact(
      {
        kind: 'proposal_settled',
        mode: 'next-turn',
        priority: 3,
        dedupKey: `proposal:${row.proposalId}`,
        text,
        causedBy: row.madeSeq,
        derivedFrom: [row.madeSeq],
      },
      newId(),
    )
  }

  return {
    open,
    async propose({ target, text }, context) {
      const asked = open().find((waiting) => waiting.target === target && waiting.text === text)
      if (asked) return asked
      const id = newId()
      const result = await append([
        {
          type: 'proposal.made',
          actor: 'delegate',
          channel: context.channel,
          conversationId: context.conversationId,
          spanId: context.spanId,
          turnId: context.turnId,
          key: context.key,
          causedBy: context.calledSeq,
          derivedFrom: [context.calledSeq],
          facts: {
            proposalId: id,
            kind: 'sms',
            expiresAt: at(nowMs() + EXPIRES_AFTER_MS),
          },
          body: { target, text },
        },
      ])
      const made = result.status === 'appended' ? result.events[0] : result.existing
      const found = made?.type === 'proposal.made' ? find(made.facts.proposalId) : null
      if (!found) throw new Error('the proposal is not in the ledger')
      return found.proposal
    },
    confirm: (id) =>
      settle(id, 'confirmed', (row, { target, text }, at) => [
        {
          type: 'delivery.requested',
          actor: 'service',
          channel: 'sms',
          ...at,
          key: `proposal-delivery:${id}`,
          causedBy: row.madeSeq,
          derivedFrom: [row.madeSeq],
          facts: { deliveryId: id, channel: 'sms', taskId: null, maxAttempts: MAX_ATTEMPTS },
          body: { target, text },
        },
        tell(row, `The owner let the proposed text to ${target} go out: "${text}"`),
      ]),
    decline: (id) =>
      settle(id, 'declined', (row, { target, text }) => [
        tell(row, `The owner declined the proposed text to ${target}: "${text}". It was not sent.`),
      ]),
  }
}
