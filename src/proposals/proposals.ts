import type { Append, EventOf, NewEvent, NewEventOf } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { createProposalQueries, ProposalRow } from '../../projections/proposals.ts'
import type { Place, Placement } from '../conversation/placement.ts'
import { signalFact } from '../signals/signals.ts'
import type { ActingContext, Deed, Tool } from '../tools/tool.ts'
import { completed, createCarryOut, digestOf } from './carry-out.ts'

/** What waits for the owner's word: a text to somebody else, or what a tool would do. */
export type Proposal = {
  readonly id: string
  readonly kind: ProposalRow['kind']
  readonly target: string
  readonly text: string
  readonly status: ProposalRow['status'] | 'expired'
  readonly madeAt: string
  readonly expiresAt: string
  /** Of a tool's: which it is, the label of its button, where the wish came from, and what came of it. */
  readonly tool: string | null
  readonly verb: string | null
  readonly why: string | null
  readonly outcome: ProposalRow['outcome']
  readonly outcomeText: string | null
}

export type Settled =
  | { readonly status: 'confirmed' | 'declined'; readonly proposal: Proposal }
  | { readonly status: 'unknown' }
  /** It was settled before, or can be confirmed no more. */
  | { readonly status: 'too_late'; readonly proposal: Proposal }

export type Proposals = {
  /** Asks the owner to let this text go out; while the very same waits already, it is not asked again. */
  propose(text: { readonly target: string; readonly text: string }, context: ActingContext): Promise<Proposal>
  /** The same for what a tool would do. */
  proposeDeed(
    proposed: { readonly tool: string; readonly deed: Deed; readonly why: string },
    context: ActingContext,
  ): Promise<Proposal>
  /** Those that wait, the oldest first. */
  open(): Proposal[]
  /** The owner's word, given in the browser: once, and before it expires. A text leaves by the outbox, a deed is done. */
  confirm(id: string): Promise<Settled>
  decline(id: string): Promise<Settled>
  /** Does what was confirmed and has no outcome: a crash cut it off, or outgoing work was held. */
  start(): void
  close(): Promise<void>
}

/** How long it waits for the owner's word: they may be away from the browser for a day. */
const EXPIRES_AFTER_MS = 24 * 60 * 60_000
const MAX_ATTEMPTS = 3
const RETRY_AFTER_FAULT_MS = 5_000

/**
 * What the delegate may do only once the owner has said so in the browser. Proposal and word are facts, so they
 * outlive the process. The word and the order to send a text are one batch; a tool is run after the word, once.
 */
export function createProposals(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly queries: ReturnType<typeof createProposalQueries>
  readonly placement: Placement
  readonly tools: () => ReadonlyMap<string, Tool>
  /** After an import nothing is done until the owner releases it. */
  readonly isHeld: () => boolean
  readonly onHeadMoved: SubscribeHead
  readonly timezone: () => string
  readonly onFault: (error: unknown) => void
  readonly nowMs: () => number
  readonly newId: () => string
}): Proposals {
  const { append, ledger, queries, placement, nowMs, newId } = options
  const carryOut = createCarryOut(options)
  let carrying: Promise<void> = Promise.resolve()
  let unsubscribe: () => void = () => undefined
  const at = (ms: number) => new Date(ms).toISOString()
  /** One that was made while the clock was far ahead would wait for as long. */
  const lastEnd = () => at(nowMs() + 2 * EXPIRES_AFTER_MS)

  function present(row: ProposalRow): Proposal {
    const [event] = ledger.readSeqs([row.madeSeq])
    const body = event?.type === 'proposal.made' ? event.body : null
    const [end] = row.completedSeq === null ? [] : ledger.readSeqs([row.completedSeq])
    const isOver = row.status === 'open' && (row.expiresAt <= at(nowMs()) || row.expiresAt > lastEnd())
    return {
      id: row.proposalId,
      kind: row.kind,
      target: body?.target ?? '',
      text: body?.text ?? '',
      status: isOver ? 'expired' : row.status,
      madeAt: row.madeAt,
      expiresAt: row.expiresAt,
      tool: row.tool,
      verb: body?.verb ?? null,
      why: body?.why ?? null,
      outcome: row.outcome,
      outcomeText: end?.type === 'proposal.completed' ? (end.body?.text ?? null) : null,
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

  /** Asks once; while the very same waits already, it is not asked again. */
  async function make(
    isSame: (waiting: Proposal) => boolean,
    proposed: Pick<NewEventOf<'proposal.made'>, 'body' | 'derivedFrom'> & {
      readonly facts: Omit<EventOf<'proposal.made'>['facts'], 'proposalId' | 'expiresAt'>
    },
    context: ActingContext,
  ): Promise<Proposal> {
    const asked = open().find(isSame)
    if (asked) return asked
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
        ...proposed,
        facts: { proposalId: newId(), expiresAt: at(nowMs() + EXPIRES_AFTER_MS), ...proposed.facts },
      },
    ])
    const made = result.status === 'appended' ? result.events[0] : result.existing
    const found = made?.type === 'proposal.made' ? find(made.facts.proposalId) : null
    if (!found) throw new Error('the proposal is not in the ledger')
    return found.proposal
  }

  /** Does one after the other what was confirmed and has no outcome. */
  function carryOutPending(): Promise<void> {
    carrying = carrying
      .then(async () => {
        if (options.isHeld()) return
        for (const row of queries.pending()) {
          const outcome = await carryOut(row)
          const { target } = present(row)
          const told = outcome.outcome === 'done' ? 'It was done.' : `It was not done: ${outcome.text}`
          await placement.appendToInteraction('chat', (place) => [
            completed(row, outcome, place),
            tell(row, `The owner confirmed: “${target}”. ${told}`),
          ])
        }
      })
      .catch((error: unknown) => {
        options.onFault(error)
        setTimeout(() => void carryOutPending(), RETRY_AFTER_FAULT_MS).unref()
      })
    return carrying
  }

  return {
    open,
    start() {
      unsubscribe = options.onHeadMoved(() => void carryOutPending(), ['outbound'])
      void carryOutPending()
    },
    close() {
      unsubscribe()
      return carrying
    },
    propose: ({ target, text }, context) =>
      make(
        (waiting) => waiting.kind === 'sms' && waiting.target === target && waiting.text === text,
        { derivedFrom: [context.calledSeq], facts: { kind: 'sms' }, body: { target, text } },
        context,
      ),
    proposeDeed({ tool, deed, why }, context) {
      const digest = digestOf({ tool, arguments: deed.arguments, subject: deed.subject })
      return make(
        ({ id }) => queries.byId(id)?.digest === digest,
        {
          derivedFrom: [...new Set([context.calledSeq, ...deed.derivedFrom])],
          facts: { kind: 'tool', tool, digest },
          body: {
            target: deed.title,
            text: deed.detail,
            verb: deed.verb,
            why,
            arguments: JSON.stringify(deed.arguments),
            subject: deed.subject,
          },
        },
        context,
      )
    },
    async confirm(id) {
      const settled = await settle(id, 'confirmed', (row, { target, text }, at) =>
        row.kind === 'tool'
          ? []
          : [
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
            ],
      )
      if (settled.status !== 'confirmed' || settled.proposal.kind === 'sms') return settled
      await carryOutPending()
      return { ...settled, proposal: find(id)?.proposal ?? settled.proposal }
    },
    decline: (id) =>
      settle(id, 'declined', (row, { target, text }) => [
        tell(
          row,
          row.kind === 'tool'
            ? `The owner declined: “${target}”. It was not done.`
            : `The owner declined the proposed text to ${target}: "${text}". It was not sent.`,
        ),
      ]),
  }
}
