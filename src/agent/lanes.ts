import type { Append } from '../../ledger/event.ts'
import type { createSignalQueries } from '../../projections/signals.ts'
import type { createTurnQueries, TurnRow } from '../../projections/turns.ts'
import type { Log } from '../lib/log.ts'
import { spanClosed } from '../lib/spans.ts'
import { LONGEST_RETRY_MS } from './activation.ts'
import { type Attention, type AttentionOptions, createAttention } from './attention.ts'

/** More than that is a loop: a recurrence wakes it once a minute at most. */
const ACTIVATIONS_AN_HOUR = 120
const HOUR_MS = 3_600_000

/** A lane for texts has neither signals nor anything to recover. */
const ONLY_TURNS = {
  wakingSignals: () => [],
  hasInterrupt: () => false,
  nextRetryAtMs: () => null,
  areas: ['sms', 'delegation'],
  runActivation: async () => undefined,
  recover: async () => undefined,
} as const

/**
 * The attention for the owner, and the lane of guests. The owner's texts have their own lane, so neither
 * channel waits for a turn that hangs in the other.
 */
export function createLanes(
  options: {
    readonly turns: ReturnType<typeof createTurnQueries>
    readonly signals: ReturnType<typeof createSignalQueries>
    readonly append: Append
    readonly runGuestTurn: AttentionOptions['runTurn']
    /** Compacts the conversation if it has grown too long. */
    readonly compactIfDue: AttentionOptions['afterTurn']
    /** Whether it may do work that the owner did not ask for. */
    readonly mayAskModel: () => boolean
    /** While halted, only chat is answered. Texts wait. */
    readonly isHalted: () => boolean
    readonly log: Log
    readonly onGuestFault: (error: unknown) => void
  } & Pick<AttentionOptions, 'onHeadMoved' | 'runTurn' | 'runActivation' | 'recover' | 'nowMs' | 'onFault'>,
): { readonly attention: Attention; readonly guests: Pick<Attention, 'start' | 'close'> } {
  const { turns, signals, onHeadMoved, runTurn, compactIfDue, mayAskModel, isHalted, nowMs, log } = options
  const waiting = (party: TurnRow['party'], trigger: TurnRow['trigger']) =>
    trigger === 'sms' && isHalted()
      ? []
      : turns.unfinished().filter((turn) => turn.party === party && turn.trigger === trigger)

  const starts: number[] = []
  /** When it may next start by itself. After the clock was set back, at once. */
  function restUntilMs(): number {
    const first = starts.at(-ACTIVATIONS_AN_HOUR)
    return first === undefined || first > nowMs() ? 0 : first + HOUR_MS
  }

  async function runActivation(...args: Parameters<AttentionOptions['runActivation']>): Promise<void> {
    starts.push(nowMs())
    if (starts.length > ACTIVATIONS_AN_HOUR) starts.shift()
    const until = restUntilMs()
    if (until > nowMs())
      log.warn(
        { mostAnHour: ACTIVATIONS_AN_HOUR, until: new Date(until).toISOString() },
        'woke too often: the next activations wait',
      )
    await options.runActivation(...args)
  }

  const chat = createAttention({
    waitingTurns: () => waiting('owner', 'message'),
    isOwnerWaiting: () => waiting('owner', 'sms').length > 0,
    wakingSignals() {
      const waking = signals.waking({ nowMs: nowMs(), longestWaitMs: LONGEST_RETRY_MS })
      // Failed attempts would count, and end in giving up.
      return waking.length === 0 || (mayAskModel() && restUntilMs() <= nowMs()) ? waking : []
    },
    hasInterrupt: signals.hasInterrupt,
    nextRetryAtMs: () => {
      const retryAt = signals.nextRetryAt()
      if (!mayAskModel()) return null
      if (restUntilMs() > nowMs()) return restUntilMs()
      return retryAt === null ? null : Date.parse(retryAt)
    },
    onHeadMoved,
    mustStop: (kind) => kind !== 'turn' && isHalted(),
    isReplaced: turns.isReplaced,
    areas: ['chat', 'sms', 'turn', 'signal', 'activation', 'delegation', 'allowance'],
    runTurn,
    runActivation,
    afterTurn: compactIfDue,
    recover: options.recover,
    nowMs,
    onFault: options.onFault,
  })
  const texts = createAttention({
    ...ONLY_TURNS,
    waitingTurns: () => waiting('owner', 'sms'),
    mustStop: isHalted,
    onHeadMoved,
    runTurn,
    // A busy chat compacts after its own turn.
    async afterTurn() {
      chat.exclusively(compactIfDue)?.catch((error: unknown) => log.error({ err: error }, 'upkeep failed'))
    },
    nowMs,
    onFault: (error) => log.error({ err: error }, 'the turn of a text failed'),
  })
  const guests = createAttention({
    ...ONLY_TURNS,
    waitingTurns: () => waiting('guest', 'sms'),
    mustStop: isHalted,
    onHeadMoved,
    async runTurn(turn, signal) {
      await options.runGuestTurn(turn, signal)
      await closeSpan(turn)
    },
    afterTurn: async () => undefined,
    nowMs,
    onFault: options.onGuestFault,
  })

  /** Each text of a guest has its own span. */
  async function closeSpan({ turnId, conversationId, spanId }: TurnRow): Promise<void> {
    const ended = turns.byId(turnId)
    if (!spanId || !ended || ended.endedSeq === null) return
    const reason = ended.status === 'completed' ? 'completed' : 'failed'
    await options.append([spanClosed({ conversationId, spanId }, reason, 'sms')])
  }

  return {
    attention: {
      start() {
        chat.start()
        texts.start()
      },
      stop: (turnId) => chat.stop(turnId) || texts.stop(turnId),
      exclusively: (work) => (texts.isBusy() ? null : chat.exclusively(work)),
      async close(graceMs) {
        await Promise.all([chat.close(graceMs), texts.close(graceMs)])
      },
      isBusy: () => chat.isBusy() || texts.isBusy(),
    },
    guests,
  }
}
