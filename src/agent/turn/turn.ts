import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Append, Appended } from '../../../ledger/event.ts'
import type { AnyEvent, LedgerReader } from '../../../ledger/reader.ts'
import type { TurnRow } from '../../../projections/turns.ts'
import type { Tool } from '../../lib/tool.ts'
import {
  addUsage,
  type InputItem,
  ModelError,
  type ModelService,
  NO_USAGE,
  type Usage,
} from '../../model/port.ts'
import { after } from '../context/after.ts'
import type { Composed, Composer } from '../context/composer.ts'
import type { SpokenChannel } from '../context/instructions.ts'
import { SILENCE } from '../context/signals-text.ts'
import type { Previews } from '../conversation/previews.ts'
import { failureText, failureTextOf, type TurnFailureKind } from './failure-text.ts'
import { createProvenance, type Provenance } from './provenance.ts'
import { type JudgedCall, judgeCalls, readAgain } from './second-reading.ts'
import {
  type Call,
  type CallFact,
  createToolRunner,
  type Propose,
  type Tally,
  tallyOf,
} from './tool-runner.ts'
import { type Answer, createTurnFacts } from './turn-facts.ts'
import { TURN_LIMITS, type TurnLimits, withStopLimit } from './turn-limits.ts'
import { canResume, progressOf, withEarlier } from './turn-progress.ts'
import { whyOf } from './why.ts'

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
  readonly areForeign: (seqs: readonly number[]) => boolean
  readonly timezone: () => string
  readonly thresholdTokens: () => number
  /** Daily token budget exhausted. */
  readonly isSpent: () => boolean
  /** Compacts the chain of a conversation that is too long. False if that fails. */
  readonly shorten: (conversationId: string, signal: AbortSignal) => Promise<boolean>
  /** Moves a long answer into a note and returns the reply to send instead. */
  readonly shortenReply: (text: string, turn: TurnRow, seen: readonly number[]) => Promise<string>
  readonly nowMs: () => number
  readonly limits?: TurnLimits
  readonly onFault: (error: unknown) => void
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
  /** `ITEMS_DEBUG=1`: receives the type and size of each item sent to or received from the model. */
  readonly traceItem?: ((direction: 'in' | 'out', item: { type: string; chars: number }) => void) | undefined
}

/** Rounds of tool calls in one turn; a model that needs more is looping. */
const MAX_ROUNDS = 12

/** Runs turns, from message or signals to outcome. Every step is recorded before it takes effect. */
export function createTurnRunner(options: TurnRunnerOptions) {
  const toolRunner = createToolRunner({
    append: options.append,
    tools: options.tools,
    propose: options.propose,
    areForeign: options.areForeign,
    nowMs: options.nowMs,
    onFault: (error, tool) => options.log.error({ err: error, tool }, 'tool failed'),
  })
  const provenance = createProvenance()
  /** Rejects only if the ledger is unavailable. The turn then stays open and is resumed. */
  return async (turn: TurnRow, signal: AbortSignal): Promise<void> => {
    try {
      await runTurn(options, { toolRunner, provenance }, turn, signal)
    } catch (error) {
      if (error instanceof LedgerUnavailable) throw error
      options.log.error({ err: error, turnId: turn.turnId }, 'turn failed')
      options.onFault(error)
      // A turn that cannot start must still end, or it would be resumed at once and forever.
      const channel = spokenChannel(turn)
      const model = options.model().text.id
      const facts = createTurnFacts({ turn, channel, model, replyTo: null })
      await options.append(facts.failed('internal', NO_USAGE, 0))
    }
  }
}

function spokenChannel({ channel }: TurnRow): SpokenChannel {
  return channel === 'voice' || channel === 'sms' ? channel : 'chat'
}

type ToolRunner = ReturnType<typeof createToolRunner>

/** The state of a running turn. */
type Run = {
  readonly tail: InputItem[]
  /** The seqs of all facts that the model has seen, including its own calls. */
  readonly seen: Set<number>
  readonly signalIds: Set<string>
  /** Sources with foreign words that the model has read, in words for the owner. */
  readonly read: Set<string>
  /** Whether the model has seen foreign words, from any source. */
  isForeign: boolean
  readonly tally: Tally
  usage: Usage
  said: string
  rounds: number
}

async function runTurn(
  options: TurnRunnerOptions,
  { toolRunner, provenance }: { readonly toolRunner: ToolRunner; readonly provenance: Provenance },
  turn: TurnRow,
  stopping: AbortSignal,
): Promise<void> {
  const { append, ledger, previews, composer, nowMs, log, limits = TURN_LIMITS } = options
  const startedMs = nowMs()
  const { turnId, conversationId } = turn
  const overdue = new AbortController()
  const signal = AbortSignal.any([stopping, overdue.signal])
  const channel = spokenChannel(turn)
  const service = options.model()
  const [cause] = ledger.readSeqs([turn.causeSeq])
  const replyTo = cause?.type === 'sms.received' ? (cause.body?.from ?? null) : null
  const facts = createTurnFacts({ turn, channel, model: service.text.id, replyTo })
  const progressOfSeqs = (seqs: readonly number[]) => progressOf(ledger.readSeqs(seqs), service.text.id)
  const earlierIds = turn.trigger === 'activation' ? options.triedBefore(turnId) : []
  const progress = withEarlier(
    earlierIds.map((id) => progressOfSeqs(options.turnEventSeqs(id))),
    // A turn that has not started has done nothing.
    progressOfSeqs(turn.startedSeq === null ? [] : options.turnEventSeqs(turnId)),
  )
  const run: Run = {
    tail: [...progress.items],
    seen: new Set([turn.causeSeq, ...progress.seenSeqs]),
    signalIds: new Set(),
    read: new Set(progress.read.map((tool) => options.tools.get(tool)?.reads ?? tool)),
    isForeign: progress.read.length > 0 || progress.orphans.some(({ foreign }) => foreign),
    tally: tallyOf(progress.called, options.tools),
    usage: NO_USAGE,
    said: '',
    rounds: progress.rounds,
  }
  /** Whether it answers a message typed in the browser. Only those carry the owner's authority. */
  const isOwners = cause?.type === 'chat.message.received' && cause.facts.spoken !== true
  /** Only replies in the browser are shown while they are written. */
  const isPreviewed = turn.trigger === 'message'
  const durationMs = () => Math.max(0, Math.round(nowMs() - startedMs))
  let past: Composed['past'] = []
  /** The facts as the model saw them. If one is erased meanwhile, whatever repeats it is erased too. */
  const given = new Map<number, AnyEvent>()
  const readSeen = (): readonly AnyEvent[] => {
    const fresh = [...run.seen].filter((seq) => !given.has(seq)).sort((a, b) => a - b)
    for (const event of ledger.readSeqs(fresh)) given.set(event.seq, event)
    return [...given.values()]
  }
  /** The sources of a text: the message that it answers and what it repeats of the facts seen. */
  const derivation = (text: string, seen: readonly AnyEvent[]) =>
    [...new Set([turn.causeSeq, ...provenance.sourcesOf(text, seen, past)])].sort((a, b) => a - b)

  async function speak(): Promise<TurnFailureKind | null> {
    if (!canResume(progress)) return 'interrupted'
    if (service.text.id.provider !== 'builtin' && options.isSpent()) return 'budget'
    const composing = composer.compose(turn, service, { textOnly: false })
    if (!composing) return 'interrupted'
    composing.composed.catch(() => undefined)
    // The facts are written while the context is gathered and the model is asked. The answer takes effect
    // only once they are recorded.
    const started = append([facts.started(composing.opening)])
    started.catch(() => undefined)
    if (isPreviewed) previews.publish({ type: 'working', turnId })
    let composed = await composing.composed
    past = composed.past
    let recorded: Promise<unknown> =
      composed.facts.length === 0 ? started : Promise.all([started, append(composed.facts)])
    recorded.catch(() => undefined)
    for (const seq of composed.seenSeqs) run.seen.add(seq)
    readSeen()
    run.isForeign ||= composed.isForeign
    for (const id of composing.opening.signalIds) run.signalIds.add(id)

    if (progress.orphans.length > 0) {
      await recorded
      const orphans = progress.orphans.map((each) => ({ ...each, authorised: isOwners && !each.foreign }))
      recorded = (await runCalls(orphans, Promise.resolve(orphans))).recorded
    }
    let hasRecomposed = false
    while (run.rounds < MAX_ROUNDS) {
      const answer = await ask(composed, recorded).catch(async (error: unknown) => {
        const recomposed = hasRecomposed || run.said !== '' ? null : await recompose(composed, error)
        if (!recomposed) throw error
        composed = recomposed
        past = recomposed.past
        run.isForeign ||= recomposed.isForeign
        for (const seq of recomposed.seenSeqs) run.seen.add(seq)
        hasRecomposed = true
        return null
      })
      if (!answer) continue
      run.rounds += 1
      run.usage = addUsage(run.usage, answer.usage)
      if (answer.toolCalls.length === 0) {
        await conclude(answer, composed)
        return null
      }
      run.said = ''
      if (isPreviewed) previews.publish({ type: 'reset', turnId })
      const { calls, called } = recordCalls(answer, await judge(answer, composed))
      recorded = (await runCalls(calls, called)).recorded
    }
    await recorded
    return 'too_many_rounds'
  }

  /** Asks the model. Streamed text is passed on once `recorded` resolves. */
  async function ask(composed: Composed, recorded: Promise<unknown>): Promise<Answer> {
    const input = composed.input.concat(run.tail)
    if (options.traceItem) {
      for (const item of input)
        options.traceItem('in', { type: item.type, chars: JSON.stringify(item).length })
    }
    const request = { ...composed.request, input, now: new Date(nowMs()).toISOString() }
    const unrecorded = new AbortController()
    recorded.catch(() => unrecorded.abort())
    const events = service.text.respond(request, AbortSignal.any([signal, unrecorded.signal]))
    for await (const event of after(recorded, events)) {
      if (event.type === 'text.delta') {
        run.said += event.text
        if (isPreviewed) previews.publish({ type: 'delta', turnId, text: event.text })
      } else {
        options.traceItem?.('out', { type: event.type, chars: event.text.length })
        return event
      }
    }
    throw new ModelError('malformed', 'the stream ended without completing')
  }

  /**
   * Retries a refused input with the text of the replacement or a compacted chain; null if neither applies.
   */
  async function recompose(composed: Composed, error: unknown): Promise<Composed | null> {
    if (!(error instanceof ModelError) || conversationId === null) return null
    const again = async (textOnly: boolean) =>
      (await composer.compose(turn, service, { textOnly })?.composed) ?? null
    if (error.kind === 'context_too_long') {
      const shortened = await options.shorten(conversationId, signal)
      return shortened ? again(false) : null
    }
    const refusesBase =
      composed.baseForm === 'opaque' && (error.kind === 'malformed' || error.kind === 'refused')
    return refusesBase ? again(true) : null
  }

  function judge({ toolCalls }: Answer, composed: Composed): Promise<readonly JudgedCall[]> {
    return judgeCalls(toolCalls, {
      tools: options.tools,
      isOwners,
      isForeign: run.isForeign,
      async readAgain() {
        const second = await readAgain(composed, {
          service,
          tools: options.tools,
          nowMs,
          signal,
          log,
          turnId,
        })
        run.usage = addUsage(run.usage, second.usage)
        return second.toolCalls
      },
      context: contextOfCalls(),
    })
  }

  function recordCalls(
    made: Answer,
    toolCalls: readonly JudgedCall[],
  ): { calls: readonly Call[]; called: Promise<readonly CallFact[]> } {
    // The blob contains the calls as first made, so drop it if a second reading changed one.
    const isAsMade = toolCalls.every((call, index) => call.arguments === made.toolCalls[index]?.arguments)
    const answer = { toolCalls, blob: isAsMade ? made.blob : null }
    const seen = readSeen()
    const derivationOf = (text: string) => derivation(text, seen)
    const called = append(
      facts.calls(answer, run.rounds, toolRunner.isIdempotent, derivationOf, [...run.seen]),
    ).then(callFacts)
    if (answer.blob !== null) run.tail.push({ type: 'opaque', model: service.text.id, blob: answer.blob })
    const calls = toolCalls.map(({ callId, name, arguments: args, authorised, foreign }) => {
      if (answer.blob === null) run.tail.push({ type: 'tool_call', callId, name, arguments: args })
      return { callId, tool: name, arguments: args, authorised, foreign }
    })
    return { calls, called }
  }

  function contextOfCalls() {
    const messageSeq = turn.trigger === 'activation' ? null : turn.causeSeq
    const { spanId } = turn
    const timezone = options.timezone()
    return { turnId, conversationId, spanId, channel, messageSeq, timezone, nowMs: startedMs, signal }
  }

  /** Runs calls. `recorded` must resolve before anything of the next round takes effect. */
  async function runCalls(
    calls: readonly Call[],
    called: Promise<readonly CallFact[]>,
  ): Promise<{ recorded: Promise<unknown> }> {
    const round = { ...contextOfCalls(), tally: run.tally, why: whyOf(cause, run.read) }
    const { outputs, recorded } = await toolRunner.run(calls, called, round)
    for (const { callId, output, foreign } of outputs) {
      run.tail.push({ type: 'tool_result', callId, output })
      if (foreign === null) continue
      run.read.add(foreign)
      run.isForeign = true
    }
    const all = Promise.all([called, recorded]).then(([calls, returnedSeqs]) => {
      for (const { seq } of calls) run.seen.add(seq)
      for (const seq of returnedSeqs) run.seen.add(seq)
    })
    all.catch(() => undefined)
    return { recorded: all }
  }

  async function conclude(answer: Answer, composed: Composed): Promise<void> {
    const isSilent =
      turn.trigger === 'activation' && (answer.text.trim() === SILENCE || answer.text.trim() === '')
    const seqs = derivation(answer.text, readSeen())
    const text = isSilent ? null : await options.shortenReply(answer.text, turn, seqs)
    await append([
      ...facts.attached([...run.signalIds]),
      ...facts.replied(text, seqs, run.isForeign),
      facts.completed({ usage: run.usage, answer, rounds: run.rounds, durationMs: durationMs() }),
      ...composed.proven,
      facts.usage(answer.usage, options.thresholdTokens()),
    ])
  }

  async function concludeAborted(): Promise<void> {
    const reason: TurnAbort = stopping.reason
    // The signals of an activation are retried by another turn.
    if (turn.trigger === 'activation') return fail(reason === 'shutdown' ? 'interrupted' : 'stopped')
    // After a shutdown, the next start resumes the turn.
    if (reason === 'shutdown') return
    await append([
      ...facts.attached([...run.signalIds]),
      facts.stopped(run.said, derivation(run.said, readSeen()), run.isForeign),
      facts.completed({ usage: run.usage, answer: null, rounds: run.rounds, durationMs: durationMs() }),
    ])
  }

  async function fail(kind: TurnFailureKind, text = failureText[kind]): Promise<void> {
    await append(facts.failed(kind, run.usage, durationMs(), text))
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
    const kind = error instanceof ModelError ? error.kind : 'internal'
    log[kind === 'internal' ? 'error' : 'warn']({ err: error, kind, turnId }, 'turn failed')
    if (kind === 'internal') options.onFault(error)
    await fail(kind, failureTextOf(kind, error))
  } finally {
    clearTimeout(deadline)
    previews.end(turnId)
  }
}

function callFacts(appended: Appended): CallFact[] {
  if (appended.status === 'duplicate') throw new ModelError('malformed', 'the model used a call id twice')
  return appended.events.flatMap(({ type, seq, erased }) => (type === 'tool.called' ? [{ seq, erased }] : []))
}
