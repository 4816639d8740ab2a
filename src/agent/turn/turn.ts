import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Append } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { failureText, failureTextOf, type TurnFailureKind } from '../../model/failure-text.ts'
import { AllowanceSpent, type ChatModel, ModelError, type ModelService, NO_USAGE } from '../../model/port.ts'
import type { Tool } from '../../model/tool.ts'
import type { Right } from '../../settings/rights.ts'
import type { Composer } from '../context/composer.ts'
import type { SpokenChannel } from '../context/instructions.ts'
import type { Previews } from '../conversation/previews.ts'
import { createChatModels } from './chat-models.ts'
import { createProvenance, type Provenance } from './provenance.ts'
import { createRounds } from './rounds.ts'
import { createRun } from './run.ts'
import { createToolRunner, type Propose } from './tool-runner.ts'
import { createTurnFacts, type TurnToRun } from './turn-facts.ts'
import { TURN_LIMITS, type TurnLimits, withStopLimit } from './turn-limits.ts'
import { canResume, progressOf, type TurnProgress, withEarlier } from './turn-progress.ts'

/** Why a turn was aborted. */
export type TurnAbort = 'stopped' | 'shutdown' | 'preempted'

export type TurnRunnerOptions = {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly turnEventSeqs: (turnId: string) => number[]
  /** Earlier turns that failed to handle the same signals, oldest first. */
  readonly triedBefore: (turnId: string) => readonly string[]
  readonly previews: Previews
  readonly model: () => ModelService
  readonly composer: Composer
  readonly tools: ReadonlyMap<string, Tool>
  readonly propose: Propose
  readonly foreignAmong: (seqs: readonly number[]) => readonly number[]
  readonly timezone: () => string
  /** What a message by this channel may do. */
  readonly right: (channel: SpokenChannel) => Right
  readonly thresholdTokens: () => number
  /** Daily token budget exhausted. */
  readonly isSpent: () => boolean
  /** Compacts the chain of a conversation that is too long. False if that fails. */
  readonly shorten: (conversationId: string, signal: AbortSignal) => Promise<boolean>
  /** Moves a long answer into a note and returns the reply to send instead. */
  readonly shortenReply: (text: string, turn: TurnToRun, seen: readonly number[]) => Promise<string>
  readonly nowMs: () => number
  readonly limits?: TurnLimits
  readonly onFault: (error: unknown) => void
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
  /** `ITEMS_DEBUG=1`: receives the type and size of each item sent to or received from the model. */
  readonly traceItem?: ((direction: 'in' | 'out', item: { type: string; chars: number }) => void) | undefined
}

/** Runs turns, from message or signals to outcome. Every step is recorded before it takes effect. */
export function createTurnRunner(options: TurnRunnerOptions) {
  const toolRunner = createToolRunner({
    append: options.append,
    tools: options.tools,
    propose: options.propose,
    foreignAmong: options.foreignAmong,
    nowMs: options.nowMs,
    onFault: (error, tool) => options.log.error({ err: error, tool }, 'tool failed'),
  })
  const provenance = createProvenance()
  /** Rejects only if the ledger is unavailable. The turn then stays open and is resumed. */
  return async (turn: TurnToRun, signal: AbortSignal): Promise<void> => {
    try {
      await runTurn(options, { toolRunner, provenance }, turn, signal)
    } catch (error) {
      if (error instanceof LedgerUnavailable) throw error
      options.log.error({ err: error, turnId: turn.turnId }, 'turn failed')
      options.onFault(error)
      // A turn that cannot start must still end, or it would be resumed at once and forever.
      const channel = spokenChannel(turn)
      const models = createChatModels([options.model()])
      const facts = createTurnFacts({ turn, channel, models, replyTo: null })
      await options.append(facts.failed('internal', NO_USAGE, 0))
    }
  }
}

function spokenChannel({ channel }: TurnToRun): SpokenChannel {
  return channel === 'voice' || channel === 'sms' ? channel : 'chat'
}

type ToolRunner = ReturnType<typeof createToolRunner>

async function runTurn(
  options: TurnRunnerOptions,
  { toolRunner, provenance }: { readonly toolRunner: ToolRunner; readonly provenance: Provenance },
  turn: TurnToRun,
  stopping: AbortSignal,
): Promise<void> {
  const { append, ledger, previews, tools, nowMs, log, limits = TURN_LIMITS } = options
  const startedMs = nowMs()
  const { turnId } = turn
  const overdue = new AbortController()
  const signal = AbortSignal.any([stopping, overdue.signal])
  const channel = spokenChannel(turn)
  const [cause] = ledger.readSeqs([turn.causeSeq])
  const choice = cause?.type === 'chat.message.received' ? cause.facts.model : undefined
  const models = createChatModels(options.model().chatModels(choice))
  const replyTo = cause?.type === 'sms.received' ? (cause.body?.from ?? null) : null
  const facts = createTurnFacts({ turn, channel, models, replyTo })
  // A turn that has not started has done nothing.
  const begun = turn.startedSeq === null ? [] : options.turnEventSeqs(turnId)
  const progress = readProgress(options, turn, models.current(), begun)
  const run = createRun({ turn, progress, tools, ledger, provenance })
  const durationMs = () => Math.max(0, Math.round(nowMs() - startedMs))

  async function speak(): Promise<TurnFailureKind | null> {
    if (!canResume(progress)) return 'interrupted'
    if (models.current().text.id.provider !== 'builtin' && options.isSpent()) return 'budget'
    const place = { turn, cause, channel, models, facts, progress, run, signal, startedMs, durationMs }
    const itemsFor = (model: ChatModel) =>
      readProgress(options, turn, model, options.turnEventSeqs(turnId)).items
    return createRounds({ ...options, toolRunner, ...place, itemsFor }).speak()
  }

  async function concludeAborted(): Promise<void> {
    const reason: TurnAbort = stopping.reason
    // The signals of an activation are retried by another turn.
    if (turn.trigger === 'activation') return fail(reason === 'shutdown' ? 'interrupted' : 'stopped')
    // After a shutdown, the next start resumes the turn.
    if (reason === 'shutdown') return
    await append([
      ...facts.attached([...run.signalIds]),
      saidSoFar(),
      facts.completed({ run, answer: null, durationMs: durationMs() }),
    ])
  }

  async function fail(kind: TurnFailureKind, text = failureText[kind]): Promise<void> {
    // Only a reply in the browser was read while it was written.
    const wasRead = turn.trigger === 'message' && run.said.trim() !== ''
    const failed = facts.failed(kind, run.usage, durationMs(), text)
    await append(wasRead ? [saidSoFar('failed'), ...failed] : failed)
  }

  function saidSoFar(reason?: 'failed') {
    return facts.stopped(run.said, run.derivation()(run.said), run.foreignSeqs.size > 0, reason)
  }

  const deadline = setTimeout(() => overdue.abort(), limits.deadlineMs)
  try {
    const kind = await withStopLimit(speak(), signal, limits.stopMs)
    if (kind !== null) await fail(kind)
  } catch (error) {
    if (error instanceof LedgerUnavailable) throw error
    if (stopping.aborted) return await concludeAborted()
    if (overdue.signal.aborted) {
      log.warn({ turnId, deadlineMs: limits.deadlineMs }, 'turn timed out')
      return await fail('timeout')
    }
    if (error instanceof AllowanceSpent) return await fail('allowance', error.message)
    const kind = error instanceof ModelError ? error.kind : 'internal'
    log[kind === 'internal' ? 'error' : 'warn']({ err: error, kind, turnId }, 'turn failed')
    if (kind === 'internal') options.onFault(error)
    await fail(kind, failureTextOf(kind, error))
  } finally {
    clearTimeout(deadline)
    previews.end(turnId)
  }
}

/** What the turn did in the facts of `seqs`, and what earlier attempts at the same signals did. */
function readProgress(
  options: TurnRunnerOptions,
  turn: TurnToRun,
  model: ChatModel,
  seqs: readonly number[],
): TurnProgress {
  const { ledger, turnEventSeqs, triedBefore } = options
  const progressIn = (each: readonly number[]) => progressOf(ledger.readSeqs(each), model.text.id)
  const earlierIds = turn.trigger === 'activation' ? triedBefore(turn.turnId) : []
  return withEarlier(
    earlierIds.map((id) => progressIn(turnEventSeqs(id))),
    progressIn(seqs),
  )
}
