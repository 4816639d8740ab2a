import type { Append } from '../../../ledger/event.ts'
import type { CallQueries } from '../../../projections/calls.ts'
import type { Log } from '../../lib/log.ts'

export type CallStatus = {
  readonly callSid: string
  readonly of: 'call' | 'stream'
  /** As the provider names it, for example `no-answer`. */
  readonly status: string
  /** What went wrong: the provider's number or, for a stream, which carries no words, its sentence. */
  readonly error?: string
}

const STATUS = /^[a-z][a-z-]{0,40}$/

/** Records each status that the provider reports for a call once, and logs a failure. A rejected call has no span. */
export function createCallStatusRecorder(options: {
  readonly append: Append
  readonly calls: CallQueries
  readonly log: Pick<Log, 'warn'>
}): (report: CallStatus) => Promise<void> {
  return async ({ callSid, of, status, error = '' }) => {
    if (error !== '' || status === 'relay-failed' || status === 'stream-error')
      options.log.warn({ callSid, status, error }, 'the line of a call failed')
    const call = options.calls.bySid(callSid)
    if (callSid === '' || !STATUS.test(status)) return
    await options.append([
      {
        type: 'call.status.reported',
        actor: 'service',
        channel: 'voice',
        ...(call && {
          conversationId: call.conversationId,
          spanId: call.spanId,
          causedBy: call.offeredSeq,
        }),
        key: `call:${callSid}:status:${of}:${status}`,
        facts: { callSid, of, status: status.replaceAll('-', '_') },
      },
    ])
  }
}
