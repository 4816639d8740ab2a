import type { NewEvent } from '../../ledger/event.ts'
import type { TurnRow } from '../../projections/turns.ts'
import type { ModelId, TextEvent, Usage } from '../model/port.ts'
import type { Opening } from './composer.ts'
import { failureText, type TurnFailureKind } from './failure-text.ts'
import { replyKey } from './sms-text.ts'

/** What a model's answer of one round comes to. */
export type Answer = Extract<TextEvent, { type: 'completed' }>

/** Where and by what model a turn runs. */
export type TurnPlace = {
  readonly turn: TurnRow
  readonly channel: 'chat' | 'voice' | 'sms'
  readonly model: ModelId
  /** The number that an answer by text goes to; null on any other channel. */
  readonly replyTo: string | null
}

/** A text is tried so often where it is certain that it did not leave. */
const TEXT_ATTEMPTS = 3

/** The facts of a turn, in the order in which they may occur. */
export function createTurnFacts({ turn, channel, model, replyTo }: TurnPlace) {
  const { turnId, conversationId, spanId } = turn
  const place = { conversationId, spanId, turnId, channel, causedBy: turn.causeSeq } as const
  /** A turn ends once: whoever records its end first. */
  const key = `turn-ended:${turnId}`

  /** A reply by text is asked for with the end of its turn, and sent by whoever sends texts. */
  function texted(target: string, text: string, seen: readonly number[]): NewEvent {
    return {
      type: 'delivery.requested',
      actor: 'delegate',
      ...place,
      key: replyKey(turnId),
      derivedFrom: seen,
      facts: { deliveryId: `reply-${turnId}`, channel: 'sms', taskId: null, maxAttempts: TEXT_ATTEMPTS },
      body: { target, text },
    }
  }

  return {
    started: ({ adaptationIds, signalIds }: Opening): NewEvent => ({
      type: 'turn.started',
      actor: 'service',
      ...place,
      facts: {
        trigger: turn.trigger,
        party: turn.party === 'guest' ? 'guest' : 'owner',
        model: { ...model },
        adaptationIds: [...adaptationIds],
        signalIds: [...signalIds],
      },
    }),

    /** The service's own items first: should the batch be cut off, there is nothing of the round at all. */
    calls(
      answer: Answer,
      round: number,
      isIdempotent: (tool: string) => boolean,
      derivation: (text: string) => readonly number[],
      given: readonly number[],
    ): NewEvent[] {
      const calls = answer.toolCalls.map(
        (call): NewEvent => ({
          type: 'tool.called',
          actor: 'delegate',
          ...place,
          derivedFrom: derivation(call.arguments),
          key: `tool-called:${turnId}:${call.callId}`,
          facts: { callId: call.callId, tool: call.name, round, idempotent: isIdempotent(call.name) },
          body: { arguments: call.arguments },
        }),
      )
      if (answer.blob === null) return calls
      const facts = { model: { ...model }, round, items: answer.toolCalls.length }
      return [
        {
          type: 'turn.items.kept',
          actor: 'service',
          ...place,
          // Nobody can read what an opaque item repeats, so it goes with anything that the model was given.
          derivedFrom: given,
          facts,
          body: { blob: answer.blob },
        },
        ...calls,
      ]
    },

    /** `text` null: the delegate had nothing to say. */
    replied(text: string | null, seen: readonly number[]): NewEvent[] {
      if (text === null) return []
      if (channel === 'sms') return replyTo === null ? [] : [texted(replyTo, text, seen)]
      return [
        {
          type: 'chat.reply.sent',
          actor: 'delegate',
          ...place,
          derivedFrom: seen,
          facts: {},
          body: { text },
        },
      ]
    },

    stopped: (text: string, seen: readonly number[]): NewEvent => ({
      type: 'chat.reply.stopped',
      actor: 'delegate',
      ...place,
      derivedFrom: seen,
      facts: {},
      body: { text },
    }),

    completed: (outcome: {
      usage: Usage
      answer: Answer | null
      rounds: number
      durationMs: number
    }): NewEvent => ({
      type: 'turn.completed',
      actor: 'service',
      ...place,
      key,
      facts: {
        model: { ...model },
        usage: { ...outcome.usage },
        contextTokens: outcome.answer
          ? outcome.answer.usage.inputTokens + outcome.answer.usage.outputTokens
          : 0,
        responseId: outcome.answer?.responseId ?? null,
        rounds: outcome.rounds,
        durationMs: outcome.durationMs,
      },
    }),

    /** Signals that rode along with a turn are dealt with by it, where it did not fail. */
    attached: (signalIds: readonly string[]): NewEvent[] =>
      signalIds.length === 0
        ? []
        : [
            {
              type: 'signal.dismissed',
              actor: 'service',
              channel: 'inner',
              conversationId,
              spanId,
              turnId,
              facts: { signalIds: [...signalIds], reason: 'attached' },
            },
          ],

    usage: (usage: Usage, compactThresholdTokens: number): NewEvent => ({
      type: 'context.usage.recorded',
      actor: 'service',
      ...place,
      facts: { ...usage, compactThresholdTokens },
    }),

    /**
     * Who texted is told so by text; a stranger is not. Where nobody asked, nobody is told: the failure of an activation
     * belongs to the inner life.
     */
    failed: (
      kind: TurnFailureKind,
      usage: Usage,
      durationMs: number,
      text = failureText[kind],
    ): NewEvent[] => [
      {
        type: 'turn.failed',
        actor: 'service',
        ...place,
        channel: turn.trigger === 'activation' ? 'inner' : channel,
        key,
        facts: { kind, usage: { ...usage }, durationMs },
        body: { text },
      },
      ...(replyTo !== null && turn.party === 'owner' ? [texted(replyTo, text, [turn.causeSeq])] : []),
    ],
  }
}
