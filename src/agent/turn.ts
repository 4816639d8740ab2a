import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append, Appended } from '../../ledger/event.ts'
import type { AnyEvent, LedgerReader } from '../../ledger/reader.ts'
import type { TurnRow } from '../../projections/turns.ts'
import type { Previews } from '../conversation/previews.ts'
import { type InputItem, ModelError, type ModelService, type Usage } from '../model/port.ts'
import type { Tool } from '../tools/tool.ts'
import { after } from './after.ts'
import type { Composed, Composer } from './composer.ts'
import { failureText, failureTextOf, type TurnFailureKind } from './failure-text.ts'
import type { SpokenChannel } from './instructions.ts'
import { createProvenance, type Provenance } from './provenance.ts'
import { type JudgedCall, judgeCalls, readAgain } from './second-reading.ts'
import { SILENCE } from './signals-text.ts'
import {
  type Call,
  type CallFact,
  createToolRunner,
  type Propose,
  type Tally,
  tallyOf,
} from './tool-runner.ts'
import { type Answer, createTurnFacts } from './turn-facts.ts'
import { orGivenUp, TURN_LIMITS, type TurnLimits } from './turn-limits.ts'
import { canGoOn, goingOnFrom, progressOf } from './turn-progress.ts'
import { whyOf } from './why.ts'

/** Why a turn was cut short from outside. */
export type TurnAbort = 'stopped' | 'shutdown' | 'preempted'

export type TurnRunnerOptions = {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly turnEventSeqs: (turnId: string) => number[]
  /** The turns that tried before this one to deal with the same signals, the oldest first. */
  readonly triedBefore: (turnId: string) => readonly string[]
  readonly previews: Previews
  readonly model: () => ModelService
  readonly composer: Composer
  readonly tools: ReadonlyMap<string, Tool>
  readonly propose: Propose
  readonly areForeign: (seqs: readonly number[]) => boolean
  readonly timezone: () => string
  readonly thresholdTokens: () => number
  /** So many tokens were used today that no more may be. */
  readonly isSpent: () => boolean
  /** Compacts the chain of a conversation that has grown too long. False when that failed. */
  readonly shorten: (conversationId: string, signal: AbortSignal) => Promise<boolean>
  /** Puts an answer that is too long to be a reply into a note, and returns what to say instead. */
  readonly shortenReply: (text: string, turn: TurnRow, seen: readonly number[]) => Promise<string>
  readonly nowMs: () => number
  readonly limits?: TurnLimits
  /** Called with a fault of the service itself. */
  readonly onFault: (error: unknown) => void
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
  /** `ITEMS_DEBUG=1`: hears of each item that goes to the model and comes back, by kind and size. */
  readonly traceItem?: ((direction: 'in' | 'out', item: { type: string; chars: number }) => void) | undefined
}

/** Rounds of tool calls in one turn; a model that needs more is going round in circles. */
const MAX_ROUNDS = 12

/** Runs turns, from message or signals to outcome, every step a fact before it counts. */
export function createTurnRunner(options: TurnRunnerOptions) {
  const toolRunner = createToolRunner({
    append: options.append,
    tools: options.tools,
    propose: options.propose,
    areForeign: options.areForeign,
    nowMs: options.nowMs,
    onFault: (error, tool) => options.log.error({ err: error, tool }, 'a tool failed'),
  })
  const provenance = createProvenance()
  /** Rejects only when the ledger is unavailable: then the turn stays unfinished and is taken up again. */
  return async (turn: TurnRow, signal: AbortSignal): Promise<void> => {
    try {
      await runTurn(options, { toolRunner, provenance }, turn, signal)
    } catch (error) {
      if (error instanceof LedgerUnavailable) throw error
      options.log.error({ err: error, turnId: turn.turnId }, 'a turn failed')
      options.onFault(error)
      // A turn that cannot begin must end too, or it is taken up again at once and without end.
      const channel = spokenChannel(turn)
      const model = options.model().text.id
      const facts = createTurnFacts({ turn, channel, model, replyTo: null })
      await options.append(facts.failed('internal', NO_USAGE, 0))
    }
  }
}

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }

function spokenChannel({ channel }: TurnRow): SpokenChannel {
  return channel === 'voice' || channel === 'sms' ? channel : 'chat'
}

type ToolRunner = ReturnType<typeof createToolRunner>

/** What a turn has come to so far. */
type Run = {
  readonly tail: InputItem[]
  /** The facts whose words the model has been given, its own calls among them. */
  readonly seen: Set<number>
  /** Signals that the model was given. */
  readonly signalIds: Set<string>
  /** What it has read that holds words of others, and whether it was given any otherwise. */
  readonly read: Set<string>
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
  const progress = goingOnFrom(
    earlierIds.map((id) => progressOfSeqs(options.turnEventSeqs(id))),
    // Before its start is a fact a turn has done nothing.
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
  /** Whether it answers what the owner typed in the browser: nothing else has their authority. */
  const isOwners = cause?.type === 'chat.message.received' && cause.facts.spoken !== true
  /** Only what is answered in the browser is shown there as it is written. */
  const isPreviewed = turn.trigger === 'message'
  const durationMs = () => Math.max(0, Math.round(nowMs() - startedMs))
  let past: Composed['past'] = []
  /** What the model has been given, as it was then: a source that is erased since takes what repeats it along. */
  const given = new Map<number, AnyEvent>()
  const readSeen = (): readonly AnyEvent[] => {
    const fresh = [...run.seen].filter((seq) => !given.has(seq)).sort((a, b) => a - b)
    for (const event of ledger.readSeqs(fresh)) given.set(event.seq, event)
    return [...given.values()]
  }
  /** What a text of the model's derives from: the message that it answers, and what it repeats of what it has seen. */
  const derivation = (text: string, seen: readonly AnyEvent[]) =>
    [...new Set([turn.causeSeq, ...provenance.sourcesOf(text, seen, past)])].sort((a, b) => a - b)

  async function speak(): Promise<TurnFailureKind | null> {
    if (!canGoOn(progress)) return 'interrupted'
    // The builtin model costs nothing.
    if (service.text.id.provider !== 'builtin' && options.isSpent()) return 'budget'
    const begun = composer.compose(turn, service, { textOnly: false })
    if (!begun) return 'interrupted'
    begun.composed.catch(() => undefined)
    // Written while what the model is given is gathered, and then what surfaced while the model is asked; nothing of
    // what it says counts before both.
    const started = append([facts.started(begun.opening)])
    started.catch(() => undefined)
    if (isPreviewed) previews.publish({ type: 'working', turnId })
    let composed = await begun.composed
    past = composed.past
    let recorded: Promise<unknown> =
      composed.facts.length === 0 ? started : Promise.all([started, append(composed.facts)])
    recorded.catch(() => undefined)
    for (const seq of composed.seenSeqs) run.seen.add(seq)
    readSeen()
    run.isForeign ||= composed.isForeign
    for (const id of begun.opening.signalIds) run.signalIds.add(id)

    if (progress.orphans.length > 0) {
      await recorded
      const orphans = progress.orphans.map((each) => ({ ...each, authorised: isOwners && !each.foreign }))
      recorded = (await runCalls(orphans, Promise.resolve(orphans))).recorded
    }
    let mended = false
    while (run.rounds < MAX_ROUNDS) {
      const answer = await ask(composed, recorded).catch(async (error: unknown) => {
        const mend = mended || run.said !== '' ? null : await recompose(composed, error)
        if (!mend) throw error
        composed = mend
        past = mend.past
        run.isForeign ||= mend.isForeign
        for (const seq of mend.seenSeqs) run.seen.add(seq)
        mended = true
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

  /** The model's answer; what it streams is passed on once `recorded` is fulfilled. */
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
   * What may still save a turn whose input the service refused: the text of the replacement instead of its opaque
   * form, or a chain made shorter. Null when neither applies.
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

  /** Which calls of an answer the owner wants, as far as that can be known. */
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

  /** The calls of an answer, and their facts once these are in the ledger. */
  function recordCalls(
    made: Answer,
    toolCalls: readonly JudgedCall[],
  ): { calls: readonly Call[]; called: Promise<readonly CallFact[]> } {
    // The service's own items hold the calls as they were made first.
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

  /** Runs calls for the next round. What is `recorded` has to be in the ledger before anything of that round counts. */
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
    // Of an activation the signals are taken up again, by another turn.
    if (turn.trigger === 'activation') return fail(reason === 'shutdown' ? 'interrupted' : 'stopped')
    // A turn that the process leaves for its own end is taken up again at the next start.
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
    const kind = await orGivenUp(speak(), signal, limits.stopMs)
    if (kind !== null) await fail(kind)
  } catch (error) {
    if (error instanceof LedgerUnavailable) throw error
    if (stopping.aborted) return await concludeAborted()
    if (overdue.signal.aborted) {
      log.warn({ turnId, deadlineMs: limits.deadlineMs }, 'a turn passed its deadline')
      return await fail('timeout')
    }
    const kind = error instanceof ModelError ? error.kind : 'internal'
    log[kind === 'internal' ? 'error' : 'warn']({ err: error, kind, turnId }, 'a turn failed')
    if (kind === 'internal') options.onFault(error)
    await fail(kind, failureTextOf(kind, error))
  } finally {
    clearTimeout(deadline)
    previews.end(turnId)
  }
}

function callFacts(appended: Appended): CallFact[] {
  if (appended.status === 'duplicate')
    throw new ModelError('malformed', 'the model used the id of a call twice')
  return appended.events.flatMap(({ type, seq, erased }) => (type === 'tool.called' ? [{ seq, erased }] : []))
}

function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
  }
}
