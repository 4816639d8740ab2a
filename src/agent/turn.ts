import type { Append, Appended, NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { TurnRow } from '../../projections/turns.ts'
import type { Previews } from '../conversation/previews.ts'
import { type InputItem, ModelError, type ModelService, type TextEvent, type Usage } from '../model/port.ts'
import type { Tool } from '../tools/tool.ts'
import type { Composed, Composer } from './composer.ts'
import { failureText, type TurnFailureKind } from './failure-text.ts'
import { createToolRunner, type RecordedCall } from './tool-runner.ts'
import { progressOf } from './turn-progress.ts'

/** Why a turn was cut short from outside. */
export type TurnAbort = 'stopped' | 'shutdown'

export type TurnRunnerOptions = {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly turnEventSeqs: (turnId: string) => number[]
  readonly previews: Previews
  readonly model: () => ModelService
  readonly composer: Composer
  readonly tools: ReadonlyMap<string, Tool>
  readonly timezone: () => string
  readonly thresholdTokens: () => number
  /** Compacts the chain of a conversation that has grown too long. False when that failed. */
  readonly shorten: (conversationId: string, signal: AbortSignal) => Promise<boolean>
  readonly nowMs: () => number
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void }
  /** `ITEMS_DEBUG=1`: hears of each item that goes to the model and comes back, by kind and size. */
  readonly traceItem?: ((direction: 'in' | 'out', item: { type: string; chars: number }) => void) | undefined
}

/** Rounds of tool calls in one turn; a model that needs more is going round in circles. */
const MAX_ROUNDS = 12
/** A turn is taken up again after a crash this often; a turn that brings the process down must not do so for ever. */
const MAX_STARTS = 3

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }

/** Runs one turn from its message to its outcome, every step a fact before it counts. */
export function createTurnRunner(options: TurnRunnerOptions) {
  const { append, ledger, previews, composer, nowMs, log } = options
  const toolRunner = createToolRunner({
    append,
    tools: options.tools,
    nowMs,
    onFault: (error, tool) => log.error({ err: error, tool }, 'a tool failed'),
  })

  /** Never rejects for what can go wrong in a turn; only when the ledger itself is unavailable. */
  return async function runTurn(turn: TurnRow, signal: AbortSignal): Promise<void> {
    const startedMs = nowMs()
    const { turnId, conversationId, spanId } = turn
    const channel = turn.channel === 'voice' || turn.channel === 'sms' ? turn.channel : 'chat'
    const place = { conversationId, spanId, turnId, channel } as const
    const service = options.model()
    const progress = progressOf(ledger.readSeqs(options.turnEventSeqs(turnId)), service.text.id)
    let usage = NO_USAGE
    let said = ''

    async function fail(kind: TurnFailureKind): Promise<void> {
      await append([
        {
          type: 'turn.failed',
          actor: 'service',
          ...place,
          causedBy: turn.causeSeq,
          key: `turn-ended:${turnId}`,
          facts: { kind, usage: { ...usage }, durationMs: Math.max(0, Math.round(nowMs() - startedMs)) },
          body: { text: failureText[kind] },
        },
      ])
    }

    async function speak(): Promise<TurnFailureKind | null> {
      if (progress.starts >= MAX_STARTS) return 'interrupted'
      if (progress.orphans.some((orphan) => !orphan.idempotent)) return 'interrupted'
      let composed = await composer.compose(turn, service, { textOnly: false })
      if (!composed) return 'interrupted'
      await append([startedFact(composed), ...composed.facts])
      previews.publish({ type: 'working', turnId })

      const tail: InputItem[] = [...progress.items]
      const seen = new Set([turn.causeSeq, ...composed.seenSeqs, ...progress.seenSeqs])
      await runCalls(progress.orphans, tail, seen)
      let mended = false
      for (let round = progress.rounds + 1; round <= MAX_ROUNDS; round += 1) {
        let answer: Answer
        try {
          answer = await ask(composed, tail)
        } catch (error) {
          const mend: Composed | null = mended || said !== '' ? null : await recompose(composed, error)
          if (!mend) throw error
          mended = true
          composed = mend
          round -= 1
          continue
        }
        usage = addUsage(usage, answer.usage)
        if (answer.toolCalls.length === 0) {
          await append(replyFacts(answer, round, seen))
          return null
        }
        said = ''
        previews.publish({ type: 'reset', turnId })
        const calls = await recordCalls(answer, round)
        if (answer.blob !== null) tail.push({ type: 'opaque', model: service.text.id, blob: answer.blob })
        else
          for (const call of calls)
            tail.push({ type: 'tool_call', callId: call.callId, name: call.tool, arguments: call.arguments })
        for (const call of calls) seen.add(call.seq)
        await runCalls(calls, tail, seen)
      }
      return 'too_many_rounds'
    }

    function startedFact(composed: Composed): NewEvent {
      return {
        type: 'turn.started',
        actor: 'service',
        ...place,
        causedBy: turn.causeSeq,
        facts: {
          trigger: channel === 'sms' ? 'sms' : 'message',
          party: 'owner',
          model: { ...service.text.id },
          adaptationIds: [...composed.adaptationIds],
          signalIds: [...composed.signalIds],
        },
      }
    }

    async function runCalls(
      calls: readonly RecordedCall[],
      tail: InputItem[],
      seen: Set<number>,
    ): Promise<void> {
      const context = {
        ...place,
        messageSeq: turn.causeSeq,
        timezone: options.timezone(),
        nowMs: startedMs,
        signal,
      }
      for (const outcome of await toolRunner.run(calls, context)) {
        tail.push({ type: 'tool_result', callId: outcome.callId, output: outcome.output })
        seen.add(outcome.seq)
      }
    }

    function ask(composed: Composed, tail: readonly InputItem[]): Promise<Answer> {
      const input = [...composed.input, ...tail]
      for (const item of input)
        options.traceItem?.('in', { type: item.type, chars: JSON.stringify(item).length })
      return listen(
        service.text.respond({ ...composed.request, input, now: new Date(nowMs()).toISOString() }, signal),
      )
    }

    /**
     * What may still save the turn when the service refuses its input: the text of the replacement instead of its
     * opaque form, or a chain made shorter. Null when neither applies.
     */
    async function recompose(composed: Composed, error: unknown): Promise<Composed | null> {
      if (!(error instanceof ModelError) || conversationId === null) return null
      if (error.kind === 'context_too_long') {
        const shortened = await options.shorten(conversationId, signal)
        return shortened ? composer.compose(turn, service, { textOnly: false }) : null
      }
      const refusesBase =
        composed.baseForm === 'opaque' && (error.kind === 'malformed' || error.kind === 'refused')
      return refusesBase ? composer.compose(turn, service, { textOnly: true }) : null
    }

    type Answer = Extract<TextEvent, { type: 'completed' }>

    async function listen(stream: AsyncIterable<TextEvent>): Promise<Answer> {
      for await (const event of stream) {
        if (event.type === 'text.delta') {
          said += event.text
          previews.publish({ type: 'delta', turnId, text: event.text })
        } else {
          options.traceItem?.('out', { type: event.type, chars: event.text.length })
          return event
        }
      }
      throw new ModelError('malformed', 'the stream ended without completing')
    }

    async function recordCalls(answer: Answer, round: number): Promise<RecordedCall[]> {
      const kept: NewEvent[] =
        answer.blob === null
          ? []
          : [
              {
                type: 'turn.items.kept',
                actor: 'service',
                ...place,
                derivedFrom: [turn.causeSeq],
                facts: { model: { ...service.text.id }, round, items: answer.toolCalls.length },
                body: { blob: answer.blob },
              },
            ]
      const calls = answer.toolCalls.map(
        (call): NewEvent => ({
          type: 'tool.called',
          actor: 'delegate',
          ...place,
          causedBy: turn.causeSeq,
          derivedFrom: [turn.causeSeq],
          key: `tool-called:${turnId}:${call.callId}`,
          facts: {
            callId: call.callId,
            tool: call.name,
            round,
            idempotent: toolRunner.isIdempotent(call.name),
          },
          body: { arguments: call.arguments },
        }),
      )
      return recordedCalls(await append([...kept, ...calls]))
    }

    function replyFacts(answer: Answer, rounds: number, seen: ReadonlySet<number>): NewEvent[] {
      const derivedFrom = [...seen].sort((a, b) => a - b)
      return [
        {
          type: 'chat.reply.sent',
          actor: 'delegate',
          ...place,
          causedBy: turn.causeSeq,
          derivedFrom,
          facts: {},
          body: { text: answer.text },
        },
        completedFact(rounds, answer),
        {
          type: 'context.usage.recorded',
          actor: 'service',
          ...place,
          causedBy: turn.causeSeq,
          facts: { ...answer.usage, compactThresholdTokens: options.thresholdTokens() },
        },
      ]
    }

    function completedFact(rounds: number, answer: Answer | null): NewEvent {
      return {
        type: 'turn.completed',
        actor: 'service',
        ...place,
        causedBy: turn.causeSeq,
        key: `turn-ended:${turnId}`,
        facts: {
          model: { ...service.text.id },
          usage: { ...usage },
          contextTokens: answer ? answer.usage.inputTokens + answer.usage.outputTokens : 0,
          responseId: answer?.responseId ?? null,
          rounds,
          durationMs: Math.max(0, Math.round(nowMs() - startedMs)),
        },
      }
    }

    try {
      const kind = await speak()
      if (kind !== null) await fail(kind)
    } catch (error) {
      if (signal.aborted) {
        const reason: TurnAbort = signal.reason
        // A turn that the process leaves for its own end is taken up again at the next start.
        if (reason === 'shutdown') return
        await append([
          {
            type: 'chat.reply.stopped',
            actor: 'delegate',
            ...place,
            causedBy: turn.causeSeq,
            derivedFrom: [turn.causeSeq],
            facts: {},
            body: { text: said },
          },
          completedFact(progress.rounds, null),
        ])
      } else if (error instanceof ModelError) {
        log.warn({ kind: error.kind, turnId, cause: error.message }, 'the model service failed')
        await fail(error.kind)
      } else {
        log.error({ err: error, turnId }, 'a turn failed')
        await fail('internal')
      }
    } finally {
      previews.end(turnId)
    }
  }
}

function recordedCalls(appended: Appended): RecordedCall[] {
  if (appended.status === 'duplicate')
    throw new ModelError('malformed', 'the model used the id of a call twice')
  return appended.events.flatMap((event) =>
    event.type === 'tool.called' && event.body
      ? [
          {
            seq: event.seq,
            callId: event.facts.callId,
            tool: event.facts.tool,
            arguments: event.body.arguments,
          },
        ]
      : [],
  )
}

function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
  }
}
