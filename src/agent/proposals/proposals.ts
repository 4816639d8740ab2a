import type { Database } from 'better-sqlite3'
import pLimit from 'p-limit'
import { newSalt } from '../../../ledger/codec.ts'
import type { Append, EventOf, NewEvent, NewEventOf } from '../../../ledger/event.ts'
import type { SubscribeHead } from '../../../ledger/follow.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { createProposalQueries, type ProposalRow } from '../../../projections/proposals.ts'
import { createReactor } from '../../lib/reactor.ts'
import { signalFact } from '../../lib/signals.ts'
import type { ActingContext, Tool } from '../../model/tool.ts'
import type { Place, Placement } from '../../storage/placement.ts'
import type { Propose } from '../turn/tool-runner.ts'
import { completed, createCarryOut, digestOf } from './carry-out.ts'
import { type Choice, createChoices } from './choices.ts'

/** Something for the owner to confirm: a text to somebody else, or a tool call. */
export type Proposal = {
  readonly id: string
  readonly kind: ProposalRow['kind']
  readonly target: string
  readonly text: string
  readonly status: ProposalRow['status'] | 'expired'
  readonly madeAt: string
  readonly expiresAt: string
  /** For a tool call: the tool, the button's label, where the request came from, and the outcome. */
  readonly tool: string | null
  readonly verb: string | null
  readonly why: string | null
  readonly outcome: ProposalRow['outcome']
  readonly outcomeText: string | null
  /** What the owner chooses from, without what is forgotten meanwhile; null if there is no choice. */
  readonly choices: readonly Choice[] | null
}

export type Settled =
  | { readonly status: 'confirmed' | 'declined'; readonly proposal: Proposal }
  | { readonly status: 'unknown' }
  /** It was settled before, or has expired. */
  | { readonly status: 'too_late'; readonly proposal: Proposal }
  /** Nothing, or nothing that it offers, was chosen. */
  | { readonly status: 'not_chosen' }

export type Proposals = ReturnType<typeof createProposals>

/** The owner may be away from the browser for a day. */
const EXPIRES_AFTER_MS = 24 * 60 * 60_000
const MAX_ATTEMPTS = 3
const RETRY_AFTER_FAULT_MS = 5_000

/**
 * Actions that need the owner's confirmation in the browser. Proposals and confirmations are facts, so they
 * survive a restart. Confirming a text also appends its delivery in the same batch; a tool runs once, after
 * the confirmation.
 */
export function createProposals(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly views: Database
  readonly placement: Placement
  readonly tools: () => ReadonlyMap<string, Tool>
  /** After an import, or while halted, outbound work is held until the owner releases it. */
  readonly isHeld: () => boolean
  readonly onHeadMoved: SubscribeHead
  readonly timezone: () => string
  readonly onFault: (error: unknown) => void
  readonly nowMs: () => number
  readonly newId: () => string
}) {
  const { append, ledger, placement, nowMs, newId } = options
  const queries = createProposalQueries(options.views)
  const carryOut = createCarryOut(options)
  const choices = createChoices(options)
  const inTurn = pLimit(1)
  const at = (ms: number) => new Date(ms).toISOString()
  /** Bounds proposals made while the clock was far ahead, which would stay open for too long. */
  const lastEnd = () => at(nowMs() + 2 * EXPIRES_AFTER_MS)

  function present(row: ProposalRow): Proposal {
    const made = madeBy(row)
    const body = made?.body
    const offered = choices.read(made)
    const [end] = row.completedSeq === null ? [] : ledger.readSeqs([row.completedSeq])
    const isOver = row.status === 'open' && (row.expiresAt <= at(nowMs()) || row.expiresAt > lastEnd())
    return {
      id: row.proposalId,
      kind: row.kind,
      target: body?.target ?? '',
      // A proposal with choices copies no words.
      text: (offered?.length === 1 ? offered[0]?.text : body?.text) ?? '',
      status: isOver ? 'expired' : row.status,
      madeAt: row.madeAt,
      expiresAt: row.expiresAt,
      tool: row.tool,
      verb: body?.verb ?? null,
      why: body?.why ?? null,
      outcome: row.outcome,
      outcomeText: end?.type === 'proposal.completed' ? (end.body?.text ?? null) : null,
      choices: offered,
    }
  }
  function madeBy({ madeSeq }: ProposalRow): EventOf<'proposal.made'> | null {
    const [event] = ledger.readSeqs([madeSeq])
    return event?.type === 'proposal.made' ? event : null
  }
  function find(id: string): { row: ProposalRow; proposal: Proposal } | null {
    const row = queries.byId(id)
    return row ? { row, proposal: present(row) } : null
  }
  const openRows = () => queries.openBetween(at(nowMs()), lastEnd())
  const open = () => openRows().map(present)

  async function settle(
    id: string,
    status: 'confirmed' | 'declined',
    { chosen, call }: { readonly chosen?: readonly string[] | undefined; readonly call?: Place | undefined },
    more: (row: ProposalRow, proposal: Proposal, at: Place) => readonly NewEvent[],
  ): Promise<Settled> {
    const found = find(id)
    if (!found) return { status: 'unknown' }
    const { row, proposal } = found
    if (proposal.status !== 'open') return { status: 'too_late', proposal }
    const compose = (at: Place): readonly NewEvent[] => [
      {
        type: `proposal.${status}`,
        actor: 'owner',
        channel: call ? 'voice' : 'chat',
        ...at,
        // The first of confirm and decline wins.
        key: `proposal-settled:${id}`,
        causedBy: row.madeSeq,
        facts: {
          proposalId: id,
          ...(chosen ? { chosen: [...chosen] } : {}),
          ...(call ? { by: 'keypad' } : {}),
        },
      },
      ...more(row, proposal, at),
    ]
    const result = await (call ? append(compose(call)) : placement.appendToInteraction('chat', compose))
    const after = find(id)?.proposal ?? proposal
    return result.status === 'appended'
      ? { status, proposal: after }
      : { status: 'too_late', proposal: after }
  }

  function signalOf(row: ProposalRow, text: string): NewEvent {
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

  /** Returns the open proposal if the same one exists. */
  async function make(
    isSame: (waiting: Proposal) => boolean,
    proposed: Pick<NewEventOf<'proposal.made'>, 'body' | 'derivedFrom'> & {
      readonly facts: Omit<EventOf<'proposal.made'>['facts'], 'proposalId' | 'expiresAt'>
    },
    context: ActingContext,
  ): Promise<Proposal> {
    const existing = open().find(isSame)
    if (existing) return existing
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

  /** Carries out a confirmed tool call, unless that has just happened. */
  async function complete(id: string): Promise<void> {
    const row = queries.pending().find(({ proposalId }) => proposalId === id)
    if (!row || options.isHeld()) return
    const outcome = await carryOut(row)
    // Halted since: it stays due.
    if (outcome.reason === 'halted') return
    const { target } = present(row)
    const result = outcome.outcome === 'done' ? 'It was done.' : `It was not done: ${outcome.text}`
    await placement.appendToInteraction('chat', (place) => [
      completed(row, outcome, place),
      signalOf(row, `The owner confirmed: “${target}”. ${result}`),
    ])
  }
  const nextPending = () => (options.isHeld() ? undefined : queries.pending()[0])
  // The request that confirms a call completes it. The reactor completes what a crash or a hold left over.
  const reactor = createReactor<ProposalRow>({
    onHeadMoved: options.onHeadMoved,
    areas: ['outbound', 'delegation'],
    next: nextPending,
    run: ({ proposalId }) => inTurn(() => complete(proposalId)),
    retryMs: { first: RETRY_AFTER_FAULT_MS, longest: RETRY_AFTER_FAULT_MS },
    onFault: options.onFault,
  })

  return {
    /** Open proposals, oldest first. */
    open,
    /** What the open proposals of a turn ask the owner to choose from. */
    offeredIn: (turnId: string) =>
      openRows()
        .map(madeBy)
        .flatMap((made) => (made?.turnId === turnId ? (made.facts.choices ?? []) : [])),
    /** Carries out confirmed tool calls without an outcome, after a crash or a hold on outbound work. */
    start: reactor.start,
    async close() {
      await reactor.close()
      await inTurn(() => undefined)
    },
    /** Proposes to send a text. Returns the open proposal if the same one exists. */
    propose: ({ target, text }: { readonly target: string; readonly text: string }, context: ActingContext) =>
      make(
        (waiting) => waiting.kind === 'sms' && waiting.target === target && waiting.text === text,
        {
          derivedFrom: [context.calledSeq],
          facts: { kind: 'sms', class: 'consequential' },
          body: { target, text },
        },
        context,
      ),
    /** Proposes a tool call, likewise. */
    proposeDeed({ tool, class: toolClass, deed, why }: Parameters<Propose>[0], context: ActingContext) {
      const digest = (salt?: string) =>
        digestOf({ tool, arguments: deed.arguments, subject: deed.subject, salt })
      const salt = newSalt()
      return make(
        ({ id }) => {
          const row = queries.byId(id)
          return row?.digest != null && row.digest === digest(madeBy(row)?.body?.salt)
        },
        {
          derivedFrom: [...new Set([context.calledSeq, ...deed.derivedFrom])],
          facts: {
            kind: 'tool',
            tool,
            class: toolClass,
            digest: digest(salt),
            ...(deed.choices ? { choices: [...deed.choices] } : {}),
          },
          body: {
            target: deed.title,
            text: deed.choices ? '' : deed.detail,
            verb: deed.verb,
            why,
            arguments: JSON.stringify(deed.arguments),
            subject: deed.subject,
            salt,
          },
        },
        context,
      )
    },
    confirm,
    decline,
    /** The newest open proposal that was made in a span, as its call's keypad needs it. */
    newestIn(spanId: string) {
      const row = openRows().findLast((each) => madeBy(each)?.spanId === spanId)
      if (!row) return null
      const { kind, target, text, choices } = present(row)
      const title =
        kind === 'sms' ? `Text to ${target}: “${text}”` : choices ? `${target}: “${text}”` : target
      const toolClass = madeBy(row)?.facts.class ?? 'consequential'
      return {
        id: row.proposalId,
        title,
        class: toolClass,
        isChoice: choices !== null && choices.length !== 1,
      }
    },
    /** Confirms or declines by a key in a call. Resolves with the outcome, in words. */
    async settleByKey(id: string, decision: 'confirm' | 'decline', call: Place): Promise<string> {
      const settled = await (decision === 'confirm' ? confirm(id, undefined, call) : decline(id, call))
      if (!('proposal' in settled)) return 'Nothing was done.'
      const { kind, target, outcome, outcomeText } = settled.proposal
      if (settled.status === 'too_late') return `${target}: it was settled before, or has expired.`
      if (settled.status === 'declined') return `${target}: the caller declined it. It was not done.`
      if (kind === 'sms') return `The text to ${target} is on its way.`
      if (outcome === 'done') return `${target}: it was done.`
      if (outcome === null) return `${target}: it is confirmed, and will be done soon.`
      return `${target}: it was not done. ${outcomeText ?? ''}`
    },
  }

  /**
   * Confirms an open proposal once. Queues a text for the outbox, or carries out a tool call, on what the owner
   * chose if there is a choice. `call`: by a key in that call.
   */
  async function confirm(id: string, chosen?: readonly string[], call?: Place): Promise<Settled> {
    const { status, choices: offered = null } = find(id)?.proposal ?? {}
    // The only choice need not be named.
    const meant = chosen ?? (offered?.length === 1 ? offered.map((choice) => choice.id) : undefined)
    const isOffered = meant?.every((each) => offered?.some((choice) => choice.id === each))
    if (status === 'open' && (offered ? !meant?.length || !isOffered : meant)) return { status: 'not_chosen' }
    const settled = await settle(id, 'confirmed', { chosen: meant, call }, (row, { target, text }, at) =>
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
            signalOf(row, `The owner let the proposed text to ${target} go out: "${text}"`),
          ],
    )
    if (settled.status !== 'confirmed' || settled.proposal.kind === 'sms') return settled
    await inTurn(() => complete(id)).catch((error: unknown) => {
      options.onFault(error)
      reactor.wake()
    })
    return { ...settled, proposal: find(id)?.proposal ?? settled.proposal }
  }

  function decline(id: string, call?: Place): Promise<Settled> {
    return settle(id, 'declined', { call }, (row, { target, text }) => [
      signalOf(
        row,
        row.kind === 'tool'
          ? `The owner declined: “${target}”. It was not done.`
          : `The owner declined the proposed text to ${target}: "${text}". It was not sent.`,
      ),
    ])
  }
}
