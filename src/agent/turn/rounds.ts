import type { AnyEvent } from '../../../ledger/reader.ts'
import { english } from '../../language/message.ts'
import type { TurnFailureKind } from '../../model/failure-text.ts'
import {
  addUsage,
  type ChatModel,
  type InputItem,
  ModelError,
  type TextRequest,
  UNFINISHED,
} from '../../model/port.ts'
import type { Composed, LeftOut } from '../context/composer.ts'
import type { SpokenChannel } from '../context/instructions.ts'
import { SILENCE } from '../context/signals-text.ts'
import type { ChatModels } from './chat-models.ts'
import type { Run } from './run.ts'
import { type IsJudged, type JudgedCall, judgeCalls, readAgain } from './second-reading.ts'
import type { createToolRunner, RecordedCall } from './tool-runner.ts'
import type { TurnRunnerOptions } from './turn.ts'
import { type Answer, type createTurnFacts, type TurnToRun, useOf } from './turn-facts.ts'
import type { TurnProgress } from './turn-progress.ts'
import { whyOf } from './why.ts'

/** Said if a smaller model takes over in the middle of a turn, and the message does not fit into its context. */
const STAYS_DONE = ' What was done before another model failed stays done.'

/** Rounds of tool calls in one turn; a model that needs more is looping. */
const MAX_ROUNDS = 12

/** Ends an answer that filled a small context. */
const CONTEXT_FULL =
  '(My answer is cut off here: the context of this model is full. A model with a larger one can finish it.)'
/** Ends an answer that filled what the model service allows. */
const TOO_LONG = '(My answer is cut off here: it reached the longest one that the model service allows.)'
/** The rounds of one turn: ask the model, run its calls, and ask again until it answers. */
export function createRounds(
  options: TurnRunnerOptions & {
    readonly toolRunner: ReturnType<typeof createToolRunner>
    readonly turn: TurnToRun
    readonly cause: AnyEvent | undefined
    readonly channel: SpokenChannel
    readonly models: ChatModels
    readonly facts: ReturnType<typeof createTurnFacts>
    readonly progress: TurnProgress
    /** What the turn has recorded so far, as another model may read it: opaque items are only for their own. */
    readonly itemsFor: (model: ChatModel) => readonly InputItem[]
    readonly run: Run
    readonly signal: AbortSignal
    readonly startedMs: number
    readonly durationMs: () => number
  },
): { speak(): Promise<TurnFailureKind | null> } {
  const { append, previews, composer, nowMs, log } = options
  const { toolRunner, turn, cause, channel, models, facts, progress, run, signal } = options
  const { turnId, conversationId } = turn
  /** Whether it answers a message typed in the browser. Only those carry the owner's authority. */
  const isOwners = cause?.type === 'chat.message.received' && cause.facts.spoken !== true
  const isActivation = turn.trigger === 'activation'
  const use = useOf(turn, channel)
  /** Only replies in the browser are shown while they are written. */
  const isPreviewed = turn.trigger === 'message'

  /** Asks and runs calls until the model answers. Returns why the turn failed; null if it is answered. */
  async function speak(): Promise<TurnFailureKind | null> {
    const model = models.current()
    if (model.context) await model.context.learn()
    const composing = composer.compose(turn, model, { textOnly: false })
    if (!composing) return 'interrupted'
    if (isPreviewed) previews.publish({ type: 'working', turnId })
    await append([facts.started(composing.opening)])
    let composed = await composing.gather()
    if (composed.tooLong) return refuse(composed.tooLong)
    if (composed.facts.length > 0) await append(composed.facts)
    run.take(composed)
    for (const id of composing.opening.signalIds) run.signalIds.add(id)
    const orphans = progress.orphans.map((each) => ({ ...each, authorised: isOwners && !each.foreign }))
    if (orphans.length > 0) await runCalls(orphans)

    let hasRecomposed = false
    while (run.rounds < MAX_ROUNDS) {
      const answer = await ask(composed).catch(async (error: unknown) => {
        // Its words are shown already.
        if (run.said !== '') throw error
        let again: Composed | null = null
        if (fallBack(error)) {
          again = await compose()
          hasRecomposed = false
        } else if (!hasRecomposed) {
          again = await recompose(composed, error)
          hasRecomposed = true
        }
        if (!again) throw error
        composed = again
        run.take(again)
        return null
      })
      if (!answer && composed.tooLong) return refuse(`${composed.tooLong}${run.rounds > 0 ? STAYS_DONE : ''}`)
      if (!answer) continue
      run.rounds += 1
      run.usage = addUsage(run.usage, answer.usage)
      if (answer.toolCalls.length === 0) {
        await conclude(answer, composed)
        return null
      }
      run.said = ''
      if (isPreviewed) previews.publish({ type: 'reset', turnId })
      await runCalls(await recordCalls(answer, await judge(answer, composed)))
    }
    return 'too_many_rounds'
  }

  /** The request of the current round. */
  let sent: Omit<TextRequest, 'now' | 'use'> | null = null

  async function ask(composed: Composed): Promise<Answer> {
    sent = composed.fit?.(run.tail) ?? { ...composed.request, input: composed.input.concat(run.tail) }
    const { input } = sent
    if (options.traceItem) {
      for (const item of input)
        options.traceItem('in', { type: item.type, chars: JSON.stringify(item).length })
    }
    const request = { ...sent, use, now: new Date(nowMs()).toISOString() }
    for await (const event of models.current().text.respond(request, signal)) {
      if (event.type === 'text.delta') {
        run.said += event.text
        if (isPreviewed) previews.publish({ type: 'delta', turnId, text: event.text })
      } else {
        options.traceItem?.('out', { type: event.type, chars: event.text.length })
        return event
      }
    }
    throw new ModelError('malformed', UNFINISHED)
  }

  /** Lets the next model answer this round, if the failure is one of the service. */
  function fallBack(error: unknown): boolean {
    if (!models.fallBack(error)) return false
    log.warn({ err: error, turnId, ...models.failed.at(-1) }, 'a chat model failed, so the next one answers')
    run.tail.splice(0, run.tail.length, ...options.itemsFor(models.current()))
    return true
  }

  /** The context for the current model; null if the message was erased meanwhile. */
  async function compose(textOnly = false): Promise<Composed | null> {
    const model = models.current()
    if (model.context) await model.context.learn()
    return (await composer.compose(turn, model, { textOnly })?.gather()) ?? null
  }

  /**
   * Retries a refused input with the text of the replacement or a compacted chain; null if neither applies.
   */
  async function recompose(composed: Composed, error: unknown): Promise<Composed | null> {
    if (!(error instanceof ModelError) || conversationId === null) return null
    if (error.kind === 'context_too_long') {
      const shortened = await options.shorten(conversationId, signal)
      return shortened ? compose() : null
    }
    const refusesBase =
      composed.baseForm === 'opaque' && (error.kind === 'malformed' || error.kind === 'refused')
    return refusesBase ? compose(true) : null
  }

  function judge({ toolCalls }: Answer, composed: Composed): Promise<readonly JudgedCall[]> {
    const isText = composed.isCueOwn && isActivation
    const isJudged: IsJudged = (tool) =>
      isOwners ? tool?.plan !== undefined : isText && tool?.texts === true
    return judgeCalls(toolCalls, {
      tools: options.tools,
      isJudged,
      isOwners,
      isForeign: run.foreignSeqs.size > 0,
      async readAgain() {
        const read = { request: sent ?? composed.request, ownWords: composed.ownWords }
        const service = models.current()
        const second = await readAgain(read, {
          ...options,
          service,
          isJudged,
          nowMs,
          signal,
          log,
          turnId,
          use,
        })
        run.usage = addUsage(run.usage, second.usage)
        return second.toolCalls
      },
      context: contextOfCalls(),
    })
  }

  async function recordCalls(made: Answer, toolCalls: readonly JudgedCall[]): Promise<RecordedCall[]> {
    // The blob contains the calls as first made, so drop it if a second reading changed one.
    const isAsMade = toolCalls.every((call, index) => call.arguments === made.toolCalls[index]?.arguments)
    const answer = { toolCalls, blob: isAsMade ? made.blob : null }
    const appended = await append(
      facts.calls(answer, run.rounds, toolRunner.isIdempotent, run.derivation(), run.seenSeqs()),
    )
    if (appended.status === 'duplicate')
      throw new ModelError('malformed', english`The model used the id of a call twice.`)
    const called = appended.events.filter(({ type }) => type === 'tool.called')
    if (answer.blob !== null)
      run.tail.push({ type: 'opaque', model: models.current().text.id, blob: answer.blob })
    return toolCalls.flatMap(({ callId, name, arguments: args, authorised, foreign }, index) => {
      if (answer.blob === null) run.tail.push({ type: 'tool_call', callId, name, arguments: args })
      const fact = called[index]
      if (!fact) return []
      const { seq, erased } = fact
      return [{ callId, tool: name, arguments: args, authorised, foreign, seq, erased }]
    })
  }

  function contextOfCalls() {
    const messageSeq = isActivation ? null : turn.causeSeq
    const { spanId } = turn
    const timezone = options.timezone()
    return { turnId, conversationId, spanId, channel, messageSeq, timezone, nowMs: options.startedMs, signal }
  }

  async function runCalls(calls: readonly RecordedCall[]): Promise<void> {
    const right = options.right(channel)
    const round = {
      ...contextOfCalls(),
      tally: run.tally,
      why: whyOf(cause, run.read),
      right,
      isUnasked: isActivation,
    }
    for (const { callId, output, foreign, seq } of await toolRunner.run(calls, round)) {
      run.tail.push({ type: 'tool_result', callId, output })
      run.see([seq])
      if (foreign === null) continue
      run.read.add(foreign)
      run.foreignSeqs.add(seq)
    }
    run.see(calls.map(({ seq }) => seq))
  }

  async function conclude(answer: Answer, composed: Composed): Promise<void> {
    const isSilent = isActivation && (answer.text.trim() === SILENCE || answer.text.trim() === '')
    const seqs = run.derivation()(answer.text)
    const cutOff = sent?.maxOutputTokens ? CONTEXT_FULL : TOO_LONG
    const whole = answer.truncated ? `${answer.text}\n\n${cutOff}`.trim() : answer.text
    const text = isSilent ? null : await options.shortenReply(whole, turn, seqs)
    await append([
      ...facts.attached([...run.signalIds]),
      ...facts.replied(text, seqs, run.foreignSeqs.size > 0),
      facts.completed({ run, answer, durationMs: options.durationMs(), leftOut: leftOutOf(composed) }),
      ...composed.proven,
      facts.usage(answer.usage, options.thresholdTokens()),
    ])
  }

  /** Undefined if the model was given everything. */
  function leftOutOf({ leftOut }: Composed): LeftOut | undefined {
    if (!leftOut) return undefined
    const cut = run.tail.filter((item) => !sent?.input.includes(item)).length
    const shortened = leftOut.shortened + cut
    const isWhole = leftOut.messages + leftOut.instructions + shortened === 0
    return isWhole ? undefined : { ...leftOut, shortened }
  }

  /** Answers without the model. The message and the answer join the chain. */
  async function refuse(text: string): Promise<null> {
    await append([
      ...facts.replied(text, [turn.causeSeq], false),
      facts.completed({ run, answer: null, durationMs: options.durationMs() }),
    ])
    return null
  }

  return { speak }
}
