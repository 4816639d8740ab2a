import type { EventOf, NewEvent, NewEventOf } from '../../ledger/event.ts'
import type { CallRow } from '../../projections/calls.ts'
import type { TurnRow } from '../../projections/turns.ts'
import { failureText } from '../agent/failure-text.ts'
import type { CallPlace } from './call-turns.ts'

type SpanReason = EventOf<'span.closed'>['facts']['reason']

/** Calls that did not end by somebody's hanging up. */
const OTHERWISE: Readonly<Record<string, SpanReason>> = {
  line_lost: 'failed',
  model_lost: 'failed',
  no_realtime_model: 'failed',
  wrong_format: 'failed',
  backpressure: 'failed',
  not_connected: 'cancelled',
  service_stopping: 'interrupted',
  interrupted: 'interrupted',
}

/** The end of a call and of its span, as one batch. `ended` where the call itself says so. */
export function callEnding(
  place: Pick<CallPlace, 'callSid' | 'conversationId' | 'spanId'>,
  reason: string,
  ended?: NewEventOf<'call.ended'>,
): readonly NewEvent[] {
  const { callSid, conversationId, spanId } = place
  const fact: NewEventOf<'call.ended'> = ended ?? {
    type: 'call.ended',
    actor: 'service',
    channel: 'voice',
    key: `call:${callSid}:ended`,
    facts: { callSid, reason, durationMs: 0 },
  }
  return [
    { ...fact, conversationId, spanId },
    {
      type: 'span.closed',
      actor: 'service',
      channel: 'voice',
      conversationId,
      spanId,
      key: `span-closed:${spanId}`,
      facts: { reason: OTHERWISE[reason] ?? 'hangup' },
    },
  ]
}

/** What ends a call that a crash cut off, and the turns that were under way in it. */
export function interruptedCall(row: CallRow, unfinished: readonly TurnRow[]): readonly NewEvent[] {
  const { callSid, conversationId, spanId } = row
  if (spanId === null) return []
  const turns = unfinished.filter((turn) => turn.trigger === 'call' && turn.spanId === spanId)
  return [
    ...turns.map(
      ({ turnId, causeSeq }): NewEvent => ({
        type: 'turn.failed',
        actor: 'service',
        channel: 'voice',
        conversationId,
        spanId,
        turnId,
        causedBy: causeSeq,
        key: `turn-ended:${turnId}`,
        facts: { kind: 'interrupted' },
        body: { text: failureText.interrupted },
      }),
    ),
    ...callEnding({ callSid, conversationId, spanId }, 'interrupted'),
  ]
}
