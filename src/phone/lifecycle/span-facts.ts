import type { EventOf, NewEvent, NewEventOf } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import type { CallRow } from '../../../projections/calls.ts'
import type { TurnRow } from '../../../projections/turns.ts'
import { spanClosed } from '../../lib/spans.ts'
import { failureText } from '../../model/failure-text.ts'
import type { Attestation } from '../../settings/party.ts'
import type { CallPlace } from './call-turns.ts'

type SpanReason = EventOf<'span.closed'>['facts']['reason']

/** For calls that nobody hung up. */
const SPAN_REASONS: Readonly<Record<string, SpanReason>> = {
  line_lost: 'failed',
  model_lost: 'failed',
  no_realtime_model: 'failed',
  wrong_format: 'failed',
  backpressure: 'failed',
  not_connected: 'cancelled',
  service_stopping: 'interrupted',
  interrupted: 'interrupted',
}

/** The facts that end a call and its span, as one batch. `ended` is the call's own fact, if any. */
export function callEnding(
  place: Pick<CallPlace, 'callSid' | 'party' | 'conversationId' | 'spanId'>,
  reason: string,
  ended?: NewEventOf<'call.ended'>,
): readonly NewEvent[] {
  const { callSid, party, conversationId, spanId } = place
  const fact: NewEventOf<'call.ended'> = ended ?? {
    type: 'call.ended',
    actor: 'service',
    channel: 'voice',
    key: `call:${callSid}:ended`,
    facts: { callSid, party, reason, durationMs: 0 },
  }
  return [
    { ...fact, conversationId, spanId },
    spanClosed({ conversationId, spanId }, SPAN_REASONS[reason] ?? 'hangup', 'voice'),
  ]
}

/** The facts that end a call interrupted by a crash, and its unfinished turns. */
export function interruptedCall(row: CallRow, unfinished: readonly TurnRow[]): readonly NewEvent[] {
  const { callSid, party, conversationId, spanId } = row
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
    ...callEnding({ callSid, party, conversationId, spanId }, 'interrupted'),
  ]
}

/** What vouched for a call when it was offered. Older calls do not say. */
export function attestationOf(reader: Pick<LedgerReader, 'readSeqs'>, { offeredSeq }: CallRow): Attestation {
  const [offered] = reader.readSeqs([offeredSeq])
  return (offered?.type === 'call.offered' && offered.facts.attestation) || 'none'
}
