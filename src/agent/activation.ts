import type { Append, EventOf, NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { ActivationRow, SignalRow } from '../../projections/signals.ts'
import type { TurnRow } from '../../projections/turns.ts'
import { failureText } from '../model/failure-text.ts'
import type { TurnAbort } from './turn/turn.ts'
import type { TurnToRun } from './turn/turn-facts.ts'

const MAX_ATTEMPTS = 4
const FIRST_RETRY_MS = 30_000
/** The longest delay before a retry. */
export const LONGEST_RETRY_MS = FIRST_RETRY_MS * 4 ** (MAX_ATTEMPTS - 2)

export type ActivationOptions = {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly openConversationId: () => string | undefined
  readonly runTurn: (turn: TurnToRun, signal: AbortSignal) => Promise<void>
  readonly turnById: (turnId: string) => TurnRow | undefined
  readonly unfinishedTurns: () => TurnRow[]
  readonly newId: () => string
  readonly nowMs: () => number
}

/**
 * Runs one batch of signals as one activation in a span of its own. A failed activation is retried with
 * growing delays, then given up with a final `activation.failed`.
 */
export function createActivationRunner(options: ActivationOptions) {
  const { append, ledger, newId, nowMs } = options

  async function runActivation(waiting: readonly SignalRow[], signal: AbortSignal): Promise<void> {
    const [first] = waiting
    if (!first) return
    // Retries run apart from new signals: if they are given up, the new signals are not lost with them.
    const batch = waiting.filter(({ attempts }) => attempts === first.attempts)
    const attempt = first.attempts + 1
    const activationId = newId()
    const turnId = newId()
    const spanId = newId()
    const signalIds = batch.map((row) => row.signalId)
    const openId = options.openConversationId()
    const conversationId = openId ?? newId()
    const place = { conversationId, spanId, channel: 'inner' as const, actor: 'service' as const }
    const opening: NewEvent[] =
      openId === undefined
        ? [{ type: 'conversation.started', actor: 'service', conversationId, facts: {} }]
        : []
    const started = await append([
      ...opening,
      { type: 'span.opened', ...place, facts: { kind: 'activation' } },
      {
        type: 'activation.started',
        ...place,
        turnId,
        causedBy: first.seq,
        derivedFrom: batch.map((row) => row.seq),
        facts: { activationId, signalIds, attempt },
      },
    ])
    const causeSeq = started.status === 'appended' ? started.events.at(-1)?.seq : undefined
    if (causeSeq === undefined) throw new Error('an activation is not in the ledger right after its fact')
    const kind = { channel: 'inner', party: 'owner', trigger: 'activation' } as const
    await options.runTurn({ turnId, conversationId, spanId, causeSeq, startedSeq: null, ...kind }, signal)
    await append(outcomeFacts(options.turnById(turnId)))

    function outcomeFacts(turn: TurnRow | undefined): NewEvent[] {
      if (turn?.status === 'completed') return completedFacts(place, turn, { activationId, signalIds })
      const abort: TurnAbort | null = signal.aborted ? signal.reason : null
      // Preemption and shutdown are not failures, so the attempt does not count and the retry is immediate.
      // An activation that the owner stopped is retried after a delay.
      // Without money, the signals wait until there is some.
      const interrupted = abort === 'preempted' || abort === 'shutdown' || turn?.kind === 'allowance'
      return [
        failedFact(
          { ...place, turnId },
          {
            activationId,
            signalIds,
            attempt: interrupted ? attempt - 1 : attempt,
            kind: turn?.kind ?? 'internal',
          },
        ),
        { type: 'span.closed', ...place, facts: { reason: abort === null ? 'failed' : 'interrupted' } },
      ]
    }
  }

  /**
   * Records the outcome of activations that a crash or a full disk cut off. A completed turn completes its
   * activation, because a retry would say everything twice.
   */
  async function recover(
    running: readonly ActivationRow[],
    signalIdsOf: (activationId: string) => string[],
  ): Promise<void> {
    for (const { activationId, conversationId, spanId, turnId, attempt } of running) {
      const place = { conversationId, spanId, channel: 'inner' as const, actor: 'service' as const }
      const turn = turnId === null ? undefined : options.turnById(turnId)
      const signalIds = signalIdsOf(activationId)
      if (turn?.status === 'completed') {
        await append(completedFacts(place, turn, { activationId, signalIds }))
        continue
      }
      await append([
        ...(turn?.endedSeq === null ? [interruptedFact(turn)] : []),
        failedFact({ ...place, turnId }, { activationId, signalIds, attempt, kind: 'interrupted' }),
        { type: 'span.closed', ...place, facts: { reason: 'interrupted' } },
      ])
    }
    // The activation of these turns has ended, so nothing else will end them.
    const left = options.unfinishedTurns().filter(({ trigger }) => trigger === 'activation')
    if (left.length > 0) await append(left.map(interruptedFact))
  }

  return { runActivation, recover }

  function completedFacts(
    place: Pick<NewEvent, 'conversationId' | 'spanId' | 'channel' | 'actor'>,
    { turnId, replySeq }: TurnRow,
    activation: { readonly activationId: string; readonly signalIds: string[] },
  ): NewEvent[] {
    const [reply] = replySeq === null ? [] : ledger.readSeqs([replySeq])
    const outcome = reply?.type === 'chat.reply.sent' ? 'spoke' : 'silent'
    return [
      { type: 'activation.completed', ...place, turnId, facts: { ...activation, outcome } },
      { type: 'span.closed', ...place, facts: { reason: 'completed' } },
    ]
  }

  function interruptedFact({ turnId, conversationId, spanId }: TurnRow): NewEvent {
    return {
      type: 'turn.failed',
      actor: 'service',
      channel: 'inner',
      conversationId,
      spanId,
      turnId,
      key: `turn-ended:${turnId}`,
      facts: { kind: 'interrupted' },
      body: { text: failureText.interrupted },
    }
  }

  function failedFact(
    place: Pick<NewEvent, 'conversationId' | 'spanId' | 'turnId' | 'channel' | 'actor'>,
    facts: Pick<EventOf<'activation.failed'>['facts'], 'activationId' | 'signalIds' | 'attempt' | 'kind'>,
  ): NewEvent {
    const final = facts.attempt >= MAX_ATTEMPTS
    const waitMs = facts.attempt === 0 ? 0 : FIRST_RETRY_MS * 4 ** (facts.attempt - 1)
    const retryAt = final ? null : new Date(nowMs() + waitMs).toISOString()
    return {
      type: 'activation.failed',
      ...place,
      facts: { ...facts, signalIds: [...facts.signalIds], final, retryAt },
    }
  }
}
