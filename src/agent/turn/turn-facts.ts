import type { NewEvent } from '../../../ledger/event.ts'
import { MAX_FOREIGN_SEQS } from '../../../ledger/events/turn.ts'
import type { TurnRow } from '../../../projections/turns.ts'
import { withoutNames } from '../../lib/body-text.ts'
import { failureText, type TurnFailureKind } from '../../model/failure-text.ts'
import type { ModelId, TextEvent, Usage, Use } from '../../model/port.ts'
import type { LeftOut, Opening } from '../context/composer.ts'
import type { ChatModels } from './chat-models.ts'
import type { JudgedCall } from './second-reading.ts'
import { replyKey } from './sms-text.ts'

export type Answer = Extract<TextEvent, { type: 'completed' }>

/** A turn that waits. */
export type TurnToRun = Pick<
  TurnRow,
  'turnId' | 'conversationId' | 'spanId' | 'channel' | 'party' | 'trigger' | 'causeSeq' | 'startedSeq'
>

/** What the requests of a turn are for. */
export function useOf(turn: TurnToRun, channel: TurnPlace['channel']): Use {
  const { turnId, conversationId, spanId, trigger, party } = turn
  const isActivation = trigger === 'activation'
  const purpose = party === 'guest' ? 'guest' : isActivation ? 'activation' : 'reply'
  return { purpose, channel: isActivation ? 'inner' : channel, conversationId, spanId, turnId }
}

/** Where a turn runs and on which models. */
export type TurnPlace = {
  readonly turn: TurnToRun
  readonly channel: 'chat' | 'voice' | 'sms'
  readonly models: Pick<ChatModels, 'current' | 'failed'>
  /** The number to reply to by text; null on other channels. */
  readonly replyTo: string | null
}

/** Attempts to send a text while it is certain that none has left. */
const TEXT_ATTEMPTS = 3

/** Builds the facts of a turn, in the order in which they can occur. */
export function createTurnFacts({ turn, channel, models, replyTo }: TurnPlace) {
  const { turnId, conversationId, spanId } = turn
  const place = { conversationId, spanId, turnId, channel, causedBy: turn.causeSeq } as const
  const model = (): ModelId => ({ ...models.current().text.id })
  /** Unique, so a turn ends once. */
  const key = `turn-ended:${turnId}`

  /** Requests the delivery of a reply by text, in the same batch as the end of the turn. */
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
        model: model(),
        adaptationIds: [...adaptationIds],
        signalIds: [...signalIds],
      },
    }),

    calls(
      answer: Pick<Answer, 'blob'> & { readonly toolCalls: readonly JudgedCall[] },
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
          derivedFrom: derivation(withoutNames(call.arguments)),
          key: `tool-called:${turnId}:${call.callId}`,
          facts: {
            callId: call.callId,
            tool: call.name,
            round,
            idempotent: isIdempotent(call.name),
            foreign: call.foreign,
          },
          body: { arguments: call.arguments },
        }),
      )
      if (answer.blob === null) return calls
      const facts = { model: model(), round, items: answer.toolCalls.length }
      return [
        {
          type: 'turn.items.kept',
          actor: 'service',
          ...place,
          // An opaque item may repeat anything, so it derives from everything that the model was given.
          derivedFrom: given,
          facts,
          body: { blob: answer.blob },
        },
        ...calls,
      ]
    },

    /** Pass null if the delegate has nothing to say. */
    replied(text: string | null, seen: readonly number[], foreign: boolean): NewEvent[] {
      if (text === null) return []
      if (channel === 'sms') return replyTo === null ? [] : [texted(replyTo, text, seen)]
      return [
        {
          type: 'chat.reply.sent',
          actor: 'delegate',
          ...place,
          derivedFrom: seen,
          facts: { foreign },
          body: { text },
        },
      ]
    },

    /** What was said until the owner stopped the turn, or until it failed. */
    stopped: (text: string, seen: readonly number[], foreign: boolean, reason?: 'failed'): NewEvent => ({
      type: 'chat.reply.stopped',
      actor: 'delegate',
      ...place,
      derivedFrom: seen,
      facts: { foreign, ...(reason && { reason }) },
      body: { text },
    }),

    completed: ({
      run,
      answer,
      durationMs,
      leftOut,
    }: {
      readonly run: {
        readonly usage: Usage
        readonly rounds: number
        readonly foreignSeqs: ReadonlySet<number>
      }
      readonly answer: Answer | null
      readonly durationMs: number
      readonly leftOut?: LeftOut | undefined
    }): NewEvent => ({
      type: 'turn.completed',
      actor: 'service',
      ...place,
      key,
      facts: {
        model: model(),
        ...(models.failed.length > 0 && { failedModels: [...models.failed] }),
        usage: { ...run.usage },
        contextTokens: answer ? answer.usage.inputTokens + answer.usage.outputTokens : 0,
        responseId: answer?.responseId ?? null,
        rounds: run.rounds,
        durationMs,
        ...(leftOut ? { leftOut } : {}),
        foreignSeqs: [...run.foreignSeqs].sort((a, b) => a - b).slice(-MAX_FOREIGN_SEQS),
      },
    }),

    /** A turn that succeeds has dealt with the signals attached to it. */
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

    /** An owner who texted is told by text; a guest is not. The failure of an activation is internal. */
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
